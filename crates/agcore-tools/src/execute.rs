//! The execution of calls: one at a time, or many side by side.

mod schedule;
mod unread;
mod queue;
mod begin;
mod question;
mod start;
mod admission;
mod gate;
mod engine;
mod outcome;
mod calls;
mod batch;
mod invocation;

pub use self::invocation::{InvokeOptions, ToolInvocation};
pub(crate) use self::{
    batch::{BatchItem, batch},
    engine::{Caller, Engine},
    gate::Gate,
    invocation::{DEFAULT_MAX_CONCURRENCY, DEFAULT_TIMEOUT},
    outcome::Outcomes,
};
