//! The events of runs: what is stored, in which transaction, and who is notified.

mod event;
mod merge;
mod translator;
mod run_log;
mod recording_store;

pub(crate) use self::{
    event::{LogEvent, LogItem},
    recording_store::RecordingStore,
    run_log::RunLog,
    translator::LogInput,
};
