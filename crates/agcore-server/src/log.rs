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
mod restart;

pub use self::restart::{RestartError, restart_dead_letter};
pub(crate) use self::{
    event::{LogEvent, LogItem},
    feed::{Feed, forget_ends},
    flow_observer::FlowObserver,
    flusher::Flusher,
    recording_checkpoints::RecordingCheckpoints,
    restart::restart,
    run_log::{FlushQueue, LogContext, RunLog},
    stages::Stages,
    translator::{LogInput, suspended},
};
