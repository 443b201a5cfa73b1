//! Durable sessions: writing the changes of a turn to a store while it runs, and reading a session back.

mod side_record;
mod task_record;
mod context_record;
mod entry;
mod stream;
mod session_billing;
mod rows;
mod approvals;
mod derived;
mod fold;
mod recorded_event;
mod turn_log;
mod recorder;
mod session_log;

pub(crate) use self::{
    context_record::ContextRecord,
    entry::{SessionEntry, entries_of},
    fold::{Folded, fold},
    recorder::SessionRecorder,
    rows::{copy_of, record_of, time_of},
    session_billing::SessionBilling,
    session_log::{Continued, Report, SessionLog},
    side_record::SideRecord,
    stream::Sink,
    task_record::TaskRecord,
};
pub use self::{
    entry::session_spent,
    recorded_event::RecordedEvent,
    turn_log::{TurnCommit, TurnLog},
};
