//! [`SessionRetention`]: removing what stores of sessions keep.

use std::fmt::Debug;

use agcore_chat::Actor;
use async_trait::async_trait;

use super::writer::StoreLayer;
use crate::{
    error::SessionError,
    session::retention::{Pruned, Retention},
};

/// Deletes and erases sessions, and removes data that is older than a retention allows.
///
/// Dropping a future leaves open whether the removal took place. [`prune`](Self::prune) and
/// [`erase_sessions`](Self::erase_sessions) remove in steps, each completely or not at all.
#[async_trait]
pub trait SessionRetention: Send + Sync + Debug {
    /// Deletes a session with everything that belongs to it, including its parts, its records, its checkpoints and its bill.
    /// Returns whether it existed.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError>;

    /// Erases a session with its parts, so that nothing is left in the storage of what people and models wrote and tools
    /// returned: records, runs, events, tool calls, questions, checkpoints, the title, metadata, the content of messages, and
    /// all ids. Returns whether it existed.
    ///
    /// What is left is the bill: the session with its owner, currency and times, and its messages with their numbers, tokens and
    /// costs. It gets a random id, so that the old one can be used again, is only listed by a
    /// [filter that asks for it](crate::SessionFilter::with_erased), and never changes.
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

    /// Removes data that is older than the rules allow, at most `limit` sessions, runs, events and audit messages. Returns what
    /// was removed. Call it until nothing was, so that other writers never wait for long.
    ///
    /// If that is interrupted, some of it was removed and the next call removes the rest.
    ///
    /// # Errors
    /// When the storage fails.
    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError>;

    /// Returns what [`prune`](Self::prune) would remove in the end, without changing anything. What belongs to a session or a
    /// run that is removed is counted as well, if a rule of its own selects it.
    ///
    /// # Errors
    /// When the storage fails.
    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError>;
}

#[async_trait]
impl<L> SessionRetention for L
where
    L: StoreLayer<Inner: SessionRetention> + Send + Sync + Debug + ?Sized,
{
    async fn delete_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.inner().delete_session(tenant, session).await
    }

    async fn erase_session(&self, tenant: &str, session: &str) -> Result<bool, SessionError> {
        self.inner().erase_session(tenant, session).await
    }

    async fn erase_sessions(&self, owner: &Actor) -> Result<u64, SessionError> {
        self.inner().erase_sessions(owner).await
    }

    async fn prune(&self, retention: &Retention, limit: u64) -> Result<Pruned, SessionError> {
        self.inner().prune(retention, limit).await
    }

    async fn prunable(&self, retention: &Retention) -> Result<Pruned, SessionError> {
        self.inner().prunable(retention).await
    }
}
