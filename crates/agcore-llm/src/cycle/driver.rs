//! Doing what the machine says, and telling it what happened. One for whole and streamed turns.

mod compaction;
mod model;
mod run;
mod spending;
mod state;
mod tools;

pub(super) use state::Driver;
