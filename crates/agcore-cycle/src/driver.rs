//! The driver: does what the state machine asks for, until a turn ends or waits for a person.
//!
//! `Driver` owns the loop. Its collaborators have one concern each and know neither the loop nor each other:
//! `EventSender` sends events to the observer, `Spending` reserves and settles budgets, `Flight` knows what a call in flight
//! has used, `Compactor` measures requests
//! and plans compactions, `TypedTurn` asks for and checks typed output.

mod events;
mod spending;
mod hold;
mod call_log;
mod flight;
mod waits;
mod compactor;
mod typed_turn;
mod staged;
mod context;
mod recording;
mod hooks;
mod request;
mod reading;
mod output_limit;
mod begin;
mod model;
mod media;
mod no_tools;
mod compaction;
mod running;
mod call_ids;
mod reports;
mod tools;
mod output;
mod run;
mod settling;

pub(crate) use context::{Driver, DriverContext};
pub(crate) use typed_turn::expectation;
