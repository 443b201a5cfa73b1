//! The state of planner loops: what a conversation has gathered, planned and done, turn by turn.

mod per_turn;
mod action;
mod output;
mod runtime_state;
mod error;

pub use self::{
    action::{ActionContent, ActionContext, ActionRecord, ContextUsage, Relevance},
    error::{RuntimeStateError, RuntimeStateErrorKind},
    output::{MemoryHit, OutputPart},
    per_turn::PerTurn,
    runtime_state::RuntimeState,
};
