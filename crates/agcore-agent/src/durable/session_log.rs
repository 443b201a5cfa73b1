//! [`SessionLog`]: what a session needs of that which writes it to a store.

use std::sync::Arc;

use agcore_chat::{Message, ModelCall, Question};
use agcore_cycle::{
    LlmCycle, Observer, OutcomeRecorder, Spent,
    machine::{Limits, Machine},
};
use agcore_session::{Commit, Entry, Hold, Record, SessionError, Timestamp};
use agcore_tools::{RunState, ToolSession};
use async_trait::async_trait;

use super::{Folded, SideRecord};
use crate::error::AgentError;

/// The parts of a session that a log continues.
pub(crate) struct Continued<'a> {
    pub(crate) machine: &'a Machine,
    pub(crate) tools: &'a ToolSession,
    pub(crate) run_state: &'a RunState,
    /// The limits that apply from now on.
    pub(crate) limits: &'a Limits,
    /// Whether the store has the state.
    pub(crate) has_state: bool,
    /// The record with the newest reply.
    pub(crate) reply: Option<u64>,
    /// The id of the run of the newest turn, if it was given one.
    pub(crate) run: Option<Arc<str>>,
}

/// Where the events of a sub-agent go.
pub(crate) struct Report {
    /// The name of the sub-agent.
    pub(crate) agent: String,
    /// The call that asked it.
    pub(crate) call: Arc<str>,
    /// Receives the events of the turn in which the call runs.
    pub(crate) observer: Option<Observer>,
}

/// Writes a session to its store. Implemented by [`SessionRecorder`](super::SessionRecorder).
///
/// Sessions only know this trait, so that a program without stored sessions does not contain the code that writes and reads
/// records: about a megabyte.
#[async_trait]
pub(crate) trait SessionLog: OutcomeRecorder {
    /// Notes that another agent has the conversation from now on. `None` is the one with which the session is opened.
    fn set_agent(&self, name: Option<&str>);

    /// Sets the id of the run of the turn that starts or continues now. `None` numbers the run of a turn that starts,
    /// and keeps that of one that continues.
    fn set_run(&self, run: Option<Arc<str>>, starts: bool);

    /// Returns a text that names the session and no other one, also none that gets the same id later; for a sub-agent, with its
    /// place in the session.
    fn key_scope(&self) -> String;

    /// Notes that the state has changed in another way than by outcomes.
    fn state_changed(&self);

    /// Takes the right to drive the session, for as long as the result is kept. `None` if that belongs to another session: the one
    /// in which a sub-agent works.
    async fn hold(&self) -> Result<Option<Arc<Hold>>, SessionError>;

    /// Checks that no other handle has continued the session. If the store cannot report that now, the next write
    /// finds it out.
    async fn check_is_newest(&self) -> Result<(), SessionError>;

    /// Prepares for a run of the loop, whose steps share these values.
    fn prepare(&self, cycle: &mut LlmCycle, run_state: &RunState);

    /// Records the whole state, with the calls that were made since the last record, a commit that belongs to it and the rows of
    /// these messages.
    async fn write_state(
        &self,
        machine: Machine,
        calls: Vec<ModelCall>,
        commit: Commit,
        shown: &[Message],
    ) -> Result<(), SessionError>;

    /// Returns whether nothing was recorded yet.
    async fn is_empty(&self) -> bool;

    /// Records that the turn waits for a person.
    async fn suspended(&self, questions: &[Question]) -> Result<(), SessionError>;

    /// Documents model calls that no reply of the loop contains, if calls are billed.
    async fn document(&self, calls: Vec<ModelCall>) -> Result<(), SessionError>;

    /// Returns what the sub-agents with these paths have spent of their budgets.
    async fn nested_spent(&self, start_of_path: &str) -> Result<Spent, AgentError>;

    /// Returns the state of a sub-agent, from the records of the session; an empty one if there are none.
    async fn read_nested(&self, path: &str, limits: &Limits) -> Result<Folded, AgentError>;

    /// Creates the log of a sub-agent that works in a call of the session, or of another sub-agent. Its events are stored with
    /// those of the session if there is a report. `start` is the end of the stream.
    fn nested(
        self: Arc<Self>,
        path: String,
        start: u64,
        report: Option<Report>,
        writer: String,
        continued: &Continued<'_>,
    ) -> Arc<dyn SessionLog>;

    /// Writes a record beside those of the turns.
    async fn add_record(&self, record: Record) -> Result<(), SessionError>;

    /// Returns all records of the session.
    async fn entries(&self) -> Result<Vec<Entry>, SessionError>;

    /// Returns the current time of the session's clock.
    fn now(&self) -> Timestamp;
}

impl dyn SessionLog {
    /// Writes what happened to a task or to the contexts of the session.
    pub(crate) async fn add(&self, record: &impl SideRecord) -> Result<(), SessionError> {
        self.add_record(record.to_record(self.now())?).await
    }

    /// Returns what happened to the task, or to the contexts, of the session.
    pub(crate) async fn all<T: SideRecord>(&self) -> Result<Vec<T>, AgentError> {
        T::read_all(self.entries().await?)
    }
}
