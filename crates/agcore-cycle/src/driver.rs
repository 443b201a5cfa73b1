//! The driver: does what the state machine asks for, until a turn ends or waits for a person.
//!
//! `Driver` owns the loop and three parts, which know neither the loop nor each other: what one needs of another, the loop passes
//! as a value. `Record` reports outcomes to the machine, the recorder and the observer. `ModelCall` is the call in flight with the
//! budgets of the turn. `ToolBatch` is the tool calls in flight. They read the turn as a `Scene`, which the loop lends them.
//! `Compactor` measures requests and plans compactions, `TypedTurn` asks for and checks typed output.

mod events;
mod typed_turn;
mod environment;
mod spending;
mod hooks;
mod settled;
mod record;
mod compactor;
mod request;
mod media;
mod invented_calls;
mod model_call;
mod tool_batch;
mod context;
mod answers;
mod model;
mod compaction;
mod tools;
mod reports;
mod run;

pub(crate) use context::{Driver, DriverContext};
pub(crate) use typed_turn::expectation;
