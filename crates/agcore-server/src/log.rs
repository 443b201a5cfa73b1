//! The events of runs: storing them in transactions, and notifying their readers.

mod event;
mod merge;
mod pending;
mod for_users;
mod translator;
mod unfinished;
mod writer;
mod outbox;
mod feed;
mod committer;
mod run_log;
mod flusher;
mod stage_rows;
mod stages;
mod node_calls;
mod flow_observer;
mod recording_checkpoints;

pub(crate) use self::{
    event::LogItem,
    feed::Feed,
    flow_observer::FlowObserver,
    flusher::Flusher,
    recording_checkpoints::RecordingCheckpoints,
    run_log::{FlushQueue, LogContext, RunLog},
    stages::Stages,
    translator::LogInput,
};
