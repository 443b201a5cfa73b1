//! [`SessionWriter`]: the writing half of stores of sessions, and [`StoreLayer`], stores that change only that half.

use std::{fmt::Debug, sync::Arc};

use agcore_chat::Actor;
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    error::SessionError,
    hold::Hold,
    session::{
        NewSession, Session,
        approval::Approval,
        commit::{Commit, Committed},
        event::SessionEvents,
    },
};

/// Writes sessions: everything that changes in one is written by one [`commit`](Self::commit), which names the last record
/// that the writer knows.
///
/// Methods of a session that does not exist return [`NotFound`](crate::SessionErrorKind::NotFound). Dropping the future of a
/// write leaves open whether it took place, but it takes place completely or not at all.
#[async_trait]
pub trait SessionWriter: Send + Sync + Debug {
    /// Creates a session.
    ///
    /// # Errors
    /// [`AlreadyExists`](crate::SessionErrorKind::AlreadyExists) if the tenant has a session with this id,
    /// [`NotFound`](crate::SessionErrorKind::NotFound) if the user has no session of which it could be a part, and other errors
    /// when the session is not acceptable or the storage fails.
    async fn create(&self, session: NewSession) -> Result<Session, SessionError>;

    /// Writes a commit, completely or not at all, if the stream of the session ends at `expected`: the sequence number of the
    /// last record, 0 if there is none. Without records, the end is still compared.
    ///
    /// Runs take effect first, then what belongs to them, everything in its order, so that one commit can begin a run and a call
    /// and end both. A message may name a run that is not stored.
    ///
    /// # Errors
    /// - [`Fenced`](crate::SessionErrorKind::Fenced) if the commit has a [fence](Commit::with_fence) whose lease does not hold any
    ///   more. It comes before a conflict, so that a worker that has lost its run does not try again.
    /// - [`TooManyRuns`](crate::SessionErrorKind::TooManyRuns) if the commit has [limits](Commit::with_limits) that are reached.
    /// - [`Conflict`](crate::SessionErrorKind::Conflict) if the stream ends elsewhere. A writer who was too late gets this error
    ///   even if the commit does not fit the new state of the session either.
    /// - [`StaleDocument`](crate::SessionErrorKind::StaleDocument) if the document has another version than its change is based on.
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
            fence,
        } in batch
        {
            let mut commit = Commit::new();
            (commit.events, commit.fence) = (events, fence);
            results.push(self.commit(&tenant, &session, expected, commit).await);
        }
        results
    }

    /// Sets or removes the title.
    ///
    /// # Errors
    /// When the session does not exist or the storage fails.
    async fn rename(&self, tenant: &str, session: &str, title: Option<&str>) -> Result<(), SessionError>;

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

    /// Takes the right to drive a session, if no other holder has it, alone or [shared](Self::hold_shared): the name is that of its
    /// [stream](crate::stream_of). Other names can be used for other things that only one may do at a time. Keep the result as long
    /// as the right is needed.
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
    /// [`Held`](crate::SessionErrorKind::Held), with the [`holder`](SessionError::holder) or one of those who share it, if another
    /// one has it, and other errors when the storage fails.
    async fn hold(&self, name: &str) -> Result<Hold, SessionError>;

    /// Takes a right together with others: any number of holders share it, and none has it alone meanwhile.
    ///
    /// Otherwise it is like [`hold`](Self::hold), with the same names: while it is shared, `hold` is refused, and while one holder
    /// has it alone, sharing is.
    ///
    /// # Errors
    /// [`Held`](crate::SessionErrorKind::Held), with the [`holder`](SessionError::holder), if another one has it alone, and other
    /// errors when the storage fails.
    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError>;
}

#[async_trait]
impl<S: SessionWriter + ?Sized> SessionWriter for Arc<S> {
    async fn create(&self, session: NewSession) -> Result<Session, SessionError> {
        (**self).create(session).await
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

    async fn hold_shared(&self, name: &str) -> Result<Hold, SessionError> {
        (**self).hold_shared(name).await
    }
}

/// A store in front of another one. It reads and removes like the inner one, because every layer is a [`SessionReader`] and a
/// [`SessionRetention`] if the inner store is one; what it changes is how it writes, as a [`SessionWriter`].
///
/// [`Redacted`](crate::Redacted) is one.
///
/// [`SessionReader`]: crate::SessionReader
/// [`SessionRetention`]: crate::SessionRetention
/// [`SessionWriter`]: crate::SessionWriter
pub trait StoreLayer {
    /// The type of the inner store.
    type Inner: ?Sized;

    /// Returns the inner store.
    fn inner(&self) -> &Self::Inner;
}

impl<S: ?Sized> StoreLayer for Arc<S> {
    type Inner = S;

    fn inner(&self) -> &S {
        self
    }
}
