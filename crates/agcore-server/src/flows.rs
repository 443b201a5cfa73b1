//! Flows: what clients send to them, and what users see of them.

mod input;
mod face;
mod question;
mod served;

pub use self::served::{FlowSetup, ServedFlow};
pub(crate) use self::{
    face::{Face, Shown, WorkStatus},
    input::{FlowAnswer, FlowInput, FlowPlace, FlowValues},
    question::FlowQuestion,
    served::SetupSessions,
};
