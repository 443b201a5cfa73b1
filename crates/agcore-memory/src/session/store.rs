//! [`SessionStore`]: the contract of stores of sessions.

use std::sync::Arc;

use agcore_chat::Actor;
use async_trait::async_trait;
use serde_json::Value;

use super::{
    NewSession, Session,
    approval::Approval,
    call::StoredCall,
    commit::{Commit, Committed},
    event::StoredEvent,
    filter::{ApprovalFilter, EventFilter, MessageFilter, RunFilter, SessionFilter},
    message::StoredMessage,
    run::Run,
};
use crate::{error::MemoryError, journal::Journal};

/// A store of sessions with their messages, events, runs, tool calls and approvals.
///
/// Everything that changes in a session is written by one [`commit`](Self::commit), which names the last record that the
/// writer knows. If another writer was faster, nothing is written and the writer gets a
/// [`Conflict`](crate::MemoryErrorKind::Conflict). The records of a session are a stream of the [`Journal`] with the name
/// [`stream_of`](super::stream_of): read them with [`Journal::read`] and trim them with [`Journal::trim`], but append to them
/// with `commit` only, and delete them with the session.
///
/// A session is identified by its tenant and its id. An id of another tenant behaves exactly like one that does not exist.
///
/// Every implementation must pass the suite `agcore_testkit::stores::sessions`. Common to all:
///
/// - An acknowledged write is visible to every later operation. Each implementation documents which failures it survives.
/// - An operation that fails has changed nothing.
/// - Dropping the future of a read has no effect. Dropping the future of a write leaves open whether it took place, but it
///   takes place completely or not at all.
/// - The numbers of messages and events have no gaps, also with concurrent writers.
///
/// Methods of a session that does not exist return [`NotFound`](crate::MemoryErrorKind::NotFound) when they write, and nothing
/// when they read.
#[async_trait]
pub trait SessionStore: Journal {
    /// Creates a session.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::MemoryErrorKind::AlreadyExists) if the tenant has a session with this id, and other errors when
    /// the session is not acceptable or the storage fails.
    async fn create(&self, session: NewSession) -> Result<Session, MemoryError>;

    /// Returns a session, or `None` if there is none with this id.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, MemoryError>;

    /// Returns the sessions that a filter selects, those changed last first. Sessions that were changed at the same time come
    /// in descending order of their ids.
    ///
    /// # Errors
    /// When the storage fails.
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, MemoryError>;

    /// Writes a commit, completely or not at all, if the stream of the session ends at `expected`: the sequence number of the
    /// last record, 0 if there is none. Without records, the end is still compared.
    ///
    /// Runs take effect first, then what belongs to them, everything in its order, so that one commit can begin a run and a call
    /// and end both. A message may name a run that is not stored.
    ///
    /// # Errors
    /// - [`Conflict`](crate::MemoryErrorKind::Conflict) if the stream ends elsewhere. A writer who was too late gets this error
    ///   even if the commit does not fit the new state of the session either.
    /// - [`InvalidState`](crate::MemoryErrorKind::InvalidState) if the session or a run cannot get its new status, a call begins
    ///   or finishes twice, or a question is closed already.
    /// - [`AlreadyExists`](crate::MemoryErrorKind::AlreadyExists) if the session has a message with one of the ids.
    /// - [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if a part is not acceptable, or a cost is not in the currency in
    ///   which the session is billed. A session without billing has no costs.
    /// - [`NotFound`](crate::MemoryErrorKind::NotFound) if the session, or the run of an event, a call or a question, does not
    ///   exist.
    /// - Other errors when the storage fails.
    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, MemoryError>;

    /// Sets or removes the title.
    ///
    /// # Errors
    /// When the session does not exist or the storage fails.
    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), MemoryError>;

    /// Returns the messages that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or a message cannot be read.
    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, MemoryError>;

    /// Returns the events that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or an event cannot be read.
    async fn events(&self, tenant: &str, session: &str, filter: &EventFilter) -> Result<Vec<StoredEvent>, MemoryError>;

    /// Returns the runs that a filter selects, in the order in which they were first stored.
    ///
    /// # Errors
    /// When the storage fails or a run cannot be read.
    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, MemoryError>;

    /// Returns the tool calls of a run that were started, in the order in which they started.
    ///
    /// # Errors
    /// When the storage fails or a call cannot be read.
    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, MemoryError>;

    /// Returns the approvals that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or an approval cannot be read.
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, MemoryError>;

    /// Answers a question, from any process and without knowing the records of the session. Giving the same answer again
    /// changes nothing.
    ///
    /// # Errors
    /// - [`NotFound`](crate::MemoryErrorKind::NotFound) if there is no such question.
    /// - [`InvalidState`](crate::MemoryErrorKind::InvalidState) if the question has another answer or was withdrawn.
    /// - Other errors when the answer is not acceptable or the storage fails.
    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, MemoryError>;

    /// Deletes a session with everything that belongs to it, including its records and checkpoints. Returns whether it
    /// existed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, MemoryError>;

    /// Erases all sessions of a user, in all lines of business, so that nothing of them is left in the storage. Returns their
    /// number.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, MemoryError>;
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn create(&self, session: NewSession) -> Result<Session, MemoryError> {
        (**self).create(session).await
    }

    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, MemoryError> {
        (**self).get_session(tenant, session).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, MemoryError> {
        (**self).sessions(filter).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, MemoryError> {
        (**self).commit(tenant, session, expected, commit).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), MemoryError> {
        (**self).rename(tenant, session, title).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, MemoryError> {
        (**self).messages(tenant, session, filter).await
    }

    async fn events(&self, tenant: &str, session: &str, filter: &EventFilter) -> Result<Vec<StoredEvent>, MemoryError> {
        (**self).events(tenant, session, filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, MemoryError> {
        (**self).runs(tenant, session, filter).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, MemoryError> {
        (**self).calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, MemoryError> {
        (**self).approvals(filter).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, MemoryError> {
        (**self).answer(tenant, session, question, answer, by).await
    }

    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, MemoryError> {
        (**self).delete_session(tenant, session).await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, MemoryError> {
        (**self).erase_sessions(owner).await
    }
}
