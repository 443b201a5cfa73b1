//! Records beside those of the conversation: what happens to a task, to the contexts of a session, and what tools spend.

use agcore_chat::ModelCall;
use agcore_cycle::Spent;
use agcore_memory::{Entry, MemoryError, Timestamp};

use super::SessionRecorder;
use crate::{
    durable::{entry::EntryData, side_record::SideRecord},
    error::AgentError,
};

impl SessionRecorder {
    /// Writes what happened to a task or to the contexts of the session.
    pub(crate) async fn add(&self, record: &impl SideRecord) -> Result<(), MemoryError> {
        let record = record.to_record(self.now())?;
        self.append(vec![record], Vec::new()).await
    }

    /// Returns what happened to the task, or to the contexts, of the session.
    pub(crate) async fn all<T: SideRecord>(&self) -> Result<Vec<T>, AgentError> {
        T::read_all(self.entries().await?)
    }

    /// Documents model calls that no reply of the loop contains, if calls are billed.
    pub(crate) async fn document(&self, mut calls: Vec<ModelCall>) -> Result<(), MemoryError> {
        if self.billing.is_none() || calls.is_empty() {
            return Ok(());
        }
        calls.iter_mut().for_each(|call| call.is_reply = false);
        // That of a sub-agent has no stream of its own.
        let root = self.nested.as_ref().map_or(self, |nested| &nested.root);
        // The ids of messages are derived from the record beside them.
        let record = EntryData::new(&root.writer, &[]).into_record(self.now())?;
        root.append(vec![record], calls).await
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
