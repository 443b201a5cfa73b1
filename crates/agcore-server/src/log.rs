//! The events of runs: what is stored, in which transaction, and who is notified.

mod event;
mod merge;
mod pending;
mod for_users;
mod translator;
mod unfinished;
mod writer;
mod run_log;
mod flusher;
mod stage_rows;
mod stages;
mod node_calls;
mod flow_observer;
mod recording_checkpoints;
mod recording_store;

pub(crate) use self::{
    event::LogItem,
    flow_observer::FlowObserver,
    flusher::Flusher,
    recording_checkpoints::RecordingCheckpoints,
    recording_store::RecordingStore,
    run_log::{FlushQueue, RunLog},
    stages::Stages,
    translator::LogInput,
};
