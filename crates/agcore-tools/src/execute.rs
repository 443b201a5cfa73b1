//! How calls run: one by one, or many side by side.

mod lanes;
mod told;
mod turns;
mod resume;
mod gate;
mod engine;
mod batch;
mod invocation;

pub use self::invocation::{InvokeOptions, ToolInvocation};
pub(crate) use self::{
    batch::{BatchItem, batch},
    engine::{End, Engine, Settlement, input_question},
    gate::Gate,
    invocation::{AT_A_TIME, TIMEOUT},
};
