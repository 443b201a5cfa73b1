//! Records beside those of the conversation: what happens to a task, and to the contexts of a session.

use agcore_cycle::Spent;
use agcore_memory::{Entry, MemoryError, Timestamp};

use super::SessionRecorder;
use crate::{
    durable::{context_record::ContextRecord, entry::EntryData, task_record::TaskRecord},
    error::AgentError,
};

impl SessionRecorder {
    /// Writes what happened to the task of the session.
    pub(crate) async fn add_task_record(&self, record: &TaskRecord) -> Result<(), MemoryError> {
        let record = record.to_record(self.now())?;
        self.append(vec![record], Vec::new()).await
    }

    /// Returns what happened to the task of the session, if it has one.
    pub(crate) async fn task_records(&self) -> Result<Vec<TaskRecord>, AgentError> {
        TaskRecord::read_all(self.entries().await?)
    }

    /// Writes what happened to the contexts of the session.
    pub(crate) async fn add_context_record(&self, record: &ContextRecord) -> Result<(), MemoryError> {
        let record = record.to_record(self.now())?;
        self.append(vec![record], Vec::new()).await
    }

    /// Returns what happened to the contexts of the session, if it has some.
    pub(crate) async fn context_records(&self) -> Result<Vec<ContextRecord>, AgentError> {
        ContextRecord::read_all(self.entries().await?)
    }

    /// Returns what the sub-agents with these paths have spent of their budgets.
    pub(crate) async fn nested_spent(&self, start_of_path: &str) -> Result<Spent, AgentError> {
        EntryData::nested_spent(self.entries().await?, start_of_path)
    }

    async fn entries(&self) -> Result<Vec<Entry>, MemoryError> {
        self.stream.read(1).await
    }

    fn now(&self) -> Timestamp {
        Timestamp::from(self.clock.now())
    }
}
