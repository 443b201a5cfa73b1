//! The events of runs: what is stored, in which transaction, and who is notified.

mod event;
mod merge;
mod pending;
mod translator;
mod run_log;
mod stages;
mod flow_observer;
mod recording_store;

pub(crate) use self::{
    event::{LogEvent, LogItem},
    flow_observer::FlowObserver,
    recording_store::RecordingStore,
    run_log::RunLog,
    stages::Stages,
    translator::LogInput,
};
