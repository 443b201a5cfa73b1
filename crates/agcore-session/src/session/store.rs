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
    event::{SessionEvents, StoredEvent},
    filter::{ApprovalFilter, EventFilter, MessageFilter, RunFilter, SessionFilter},
    message::StoredMessage,
    retention::{Pruned, Retention},
    run::Run,
};
use crate::{error::SessionError, hold::Hold, journal::Journal};

/// A store of sessions with their messages, events, runs, tool calls and approvals.
///
/// Everything that changes in a session is written by one [`commit`](Self::commit), which names the last record that the
/// writer knows. If another writer was faster, nothing is written and the writer gets a
/// [`Conflict`](crate::SessionErrorKind::Conflict). The records of a session are a stream of the [`Journal`] with the name
/// [`stream_of`](super::stream_of): read them with [`Journal::read`] and trim them with [`Journal::trim`], but append to them
/// with `commit` only, and delete them with the session.
///
/// A session is identified by its tenant and its id. An id of another tenant behaves exactly like one that does not exist.
///
/// A session can have [parts](super::NewSession::with_part_of), which are sessions as well: they are listed, read and written like
/// others, and erased, deleted and pruned with the whole, in the same transaction.
///
/// Every implementation must pass the suite `agcore_testkit::stores::sessions`. Common to all:
///
/// - An acknowledged write is visible to every later operation. Each implementation documents which failures it survives.
/// - An operation that fails has changed nothing.
/// - Dropping the future of a read has no effect. Dropping the future of a write leaves open whether it took place, but it
///   takes place completely or not at all.
/// - The numbers of messages and events have no gaps, also with concurrent writers. Those of events that were deleted are not given
///   again.
///
/// Methods of a session that does not exist return [`NotFound`](crate::SessionErrorKind::NotFound) when they write, and nothing
/// when they read.
#[async_trait]
pub trait SessionStore: Journal {
    /// Creates a session.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::SessionErrorKind::AlreadyExists) if the tenant has a session with this id,
    /// [`NotFound`](crate::SessionErrorKind::NotFound) if the user has no session of which it could be a part, and other errors
    /// when the session is not acceptable or the storage fails.
    async fn create(&self, session: NewSession) -> Result<Session, SessionError>;

    /// Returns a session, or `None` if there is none with this id.
    ///
    /// # Errors
    /// When the storage fails.
    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError>;

    /// Returns the sessions that a filter selects, those changed last first. Sessions that were changed at the same time come
    /// in descending order of their ids.
    ///
    /// # Errors
    /// When the storage fails.
    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError>;

    /// Writes a commit, completely or not at all, if the stream of the session ends at `expected`: the sequence number of the
    /// last record, 0 if there is none. Without records, the end is still compared.
    ///
    /// Runs take effect first, then what belongs to them, everything in its order, so that one commit can begin a run and a call
    /// and end both. A message may name a run that is not stored.
    ///
    /// # Errors
    /// - [`Conflict`](crate::SessionErrorKind::Conflict) if the stream ends elsewhere. A writer who was too late gets this error
    ///   even if the commit does not fit the new state of the session either.
    /// - [`InvalidState`](crate::SessionErrorKind::InvalidState) if the session was erased, the session or a run cannot get its new
    ///   status, a call begins or finishes twice, or a question is closed already.
    /// - [`AlreadyExists`](crate::SessionErrorKind::AlreadyExists) if the session has a message with one of the ids.
    /// - [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if a part is not acceptable, or a cost is not in the currency in
    ///   which the session is billed. A session without billing has no costs.
    /// - [`NotFound`](crate::SessionErrorKind::NotFound) if the session, or the run of an event, a call or a question, does not
    ///   exist.
    /// - Other errors when the storage fails.
    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError>;

    /// Writes events to several sessions, each like a [`commit`](Self::commit) of these events alone. Returns a result for each, in
    /// the same order.
    ///
    /// The writes are independent: some can fail while others take place. A server that streams many runs uses this, because a
    /// store can write all of them with one transaction. Unless it does, they are written one after the other.
    async fn commit_events(&self, batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        let mut results = Vec::with_capacity(batch.len());
        for SessionEvents {
            tenant,
            session,
            expected,
            events,
        } in batch
        {
            let mut commit = Commit::new();
            commit.events = events;
            results.push(self.commit(&tenant, &session, expected, commit).await);
        }
        results
    }

    /// Sets or removes the title.
    ///
    /// # Errors
    /// When the session does not exist or the storage fails.
    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError>;

    /// Returns the messages that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or a message cannot be read.
    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError>;

    /// Returns the events that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or an event cannot be read.
    async fn events(&self, tenant: &str, session: &str, filter: &EventFilter)
    -> Result<Vec<StoredEvent>, SessionError>;

    /// Returns the runs that a filter selects, in the order in which they were first stored.
    ///
    /// # Errors
    /// When the storage fails or a run cannot be read.
    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError>;

    /// Returns the tool calls of a run that were started, in the order in which they started.
    ///
    /// # Errors
    /// When the storage fails or a call cannot be read.
    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError>;

    /// Returns the approvals that a filter selects, in order.
    ///
    /// # Errors
    /// When the storage fails or an approval cannot be read.
    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError>;

    /// Answers a question, from any process and without knowing the records of the session. Giving the same answer again
    /// changes nothing.
    ///
    /// # Errors
    /// - [`NotFound`](crate::SessionErrorKind::NotFound) if there is no such question.
    /// - [`InvalidState`](crate::SessionErrorKind::InvalidState) if the question has another answer or was withdrawn.
    /// - Other errors when the answer is not acceptable or the storage fails.
    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError>;

    /// Takes the right to drive a session, if no other holder has it: the name is that of its [stream](super::stream_of). Other
    /// names can be used for other things that only one may do at a time. Keep the result as long as the right is needed.
    ///
    /// Every handle counts, in this process and in others that use the same database. A process that ends releases everything,
    /// also if it is killed. The store does not check holds when it writes: they are an agreement between those who drive sessions.
    ///
    /// A hold that is taken and released in between, such as to find out who has it, makes others wait for some milliseconds and
    /// not fail.
    ///
    /// Dropping the future leaves nothing behind.
    ///
    /// # Errors
    /// [`Held`](crate::SessionErrorKind::Held), with the [`holder`](SessionError::holder), if another one has it, and other errors
    /// when the storage fails.
    async fn hold(&self, name: &str) -> Result<Hold, SessionError>;

    /// Deletes a session with everything that belongs to it, including its parts, its records, its checkpoints and its bill.
    /// Returns whether it existed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError>;

    /// Erases a session with its parts, so that nothing is left in the storage of what people and models wrote and tools returned:
    /// records, runs, events, tool calls, questions, checkpoints, the title, metadata, the content of messages, and all ids.
    /// Returns whether it existed.
    ///
    /// What is left is the bill: the session with its owner, currency and times, and its messages with their numbers, tokens and
    /// costs. It gets a random id, so that the old one can be used again, is only listed by a
    /// [filter that asks for it](SessionFilter::with_erased), and never changes.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError>;

    /// Erases all sessions of a user, in all lines of business, like [`erase_session`](Self::erase_session). Returns their number,
    /// without their parts.
    ///
    /// The sessions are erased one after the other. If that is interrupted, some are erased and the others are not, and the next
    /// call erases the rest.
    ///
    /// # Errors
    /// When the storage fails.
    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError>;

    /// Removes what is older than the rules say, at most `limit` sessions, runs, events and audit messages. Returns what was
    /// removed. Call it until nothing was, so that other writers never wait for long.
    ///
    /// If that is interrupted, some of it was removed and the next call removes the rest.
    ///
    /// # Errors
    /// When the storage fails.
    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError>;

    /// Returns what [`prune`](Self::prune) would remove in the end, without changing anything. What belongs to a session or a run
    /// that is removed is counted as well, if a rule of its own selects it.
    ///
    /// # Errors
    /// When the storage fails.
    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError>;
}

#[async_trait]
impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        (**self).create(session).await
    }

    async fn get_session(&self, tenant: &str, session: &str) -> Result<Option<Session>, SessionError> {
        (**self).get_session(tenant, session).await
    }

    async fn sessions(&self, filter: &SessionFilter) -> Result<Vec<Session>, SessionError> {
        (**self).sessions(filter).await
    }

    async fn commit(
        &self,
        tenant: &str,
        session: &str,
        expected: u64,
        commit: Commit,
    ) -> Result<Committed, SessionError> {
        (**self).commit(tenant, session, expected, commit).await
    }

    async fn commit_events(&self, batch: Vec<SessionEvents>) -> Vec<Result<Committed, SessionError>> {
        (**self).commit_events(batch).await
    }

    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError> {
        (**self).rename(tenant, session, title).await
    }

    async fn messages(
        &self,
        tenant: &str,
        session: &str,
        filter: &MessageFilter,
    ) -> Result<Vec<StoredMessage>, SessionError> {
        (**self).messages(tenant, session, filter).await
    }

    async fn events(
        &self,
        tenant: &str,
        session: &str,
        filter: &EventFilter,
    ) -> Result<Vec<StoredEvent>, SessionError> {
        (**self).events(tenant, session, filter).await
    }

    async fn runs(&self, tenant: &str, session: &str, filter: &RunFilter) -> Result<Vec<Run>, SessionError> {
        (**self).runs(tenant, session, filter).await
    }

    async fn calls(&self, tenant: &str, session: &str, run: &str) -> Result<Vec<StoredCall>, SessionError> {
        (**self).calls(tenant, session, run).await
    }

    async fn approvals(&self, filter: &ApprovalFilter) -> Result<Vec<Approval>, SessionError> {
        (**self).approvals(filter).await
    }

    async fn answer(
        &self,
        tenant: &str,
        session: &str,
        question: &str,
        answer: Value,
        by: &Actor,
    ) -> Result<Approval, SessionError> {
        (**self).answer(tenant, session, question, answer, by).await
    }

    async fn hold(&self, name: &str) -> Result<Hold, SessionError> {
        (**self).hold(name).await
    }

    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        (**self).delete_session(tenant, session).await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        (**self).erase_session(tenant, session).await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        (**self).erase_sessions(owner).await
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        (**self).prune(retention, limit).await
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        (**self).prunable(retention).await
    }
}
