//! The doors for other protocols than AG-UI: their requests start the same runs, and their answers come from the same events.

mod answering;
pub(super) mod openai;
pub(super) mod ui;
