//! Doing what the machine says, and telling it what happened. One for whole and streamed turns.

mod compaction;
mod hooks;
mod model;
mod run;
mod spending;
mod state;
mod tools;
mod typed;

pub(super) use state::Driver;
