//! Flows: what clients send to them, and what users see of them.

mod input;
mod face;
mod question;

pub(crate) use self::{
    face::{Face, Shown, WorkStatus},
    input::{FlowAnswer, FlowInput, FlowPlace, FlowValues},
    question::FlowQuestion,
};
