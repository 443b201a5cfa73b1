//! [`SessionReports`]: what lists and reports over many sessions need, each with one call.

use std::fmt::Debug;

use async_trait::async_trait;

use super::writer::StoreLayer;
use crate::{
    checkpoint::RunKey,
    error::SessionError,
    session::{
        costs::CostEntry,
        event::StoredEvent,
        filter::{ApprovalFilter, BillPlace, BilledMessage, SpendingFilter},
    },
};

/// Reads over many sessions at once, for lists and reports: the number of calls does not grow with the length of a list.
///
/// Dropping the future of a read has no effect.
#[async_trait]
pub trait SessionReports: Send + Sync + Debug {
    /// Returns the number of approvals that a filter selects. It counts no further than the limit of the filter, if there is one.
    ///
    /// # Errors
    /// When the storage fails.
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError>;

    /// Returns the last events of each run, up to this number of them, in order. A run that does not exist has none.
    ///
    /// # Errors
    /// When the storage fails or an event cannot be read.
    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError>;

    /// Returns the model calls in each of these places of a tenant. Those of a place are in the order of their sessions, within a
    /// session first those of the conversation, then those of audit messages. Contents of messages are not read.
    ///
    /// # Errors
    /// When the storage fails or a bill cannot be read.
    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError>;

    /// Returns the messages with model calls that a filter selects, the oldest first.
    ///
    /// # Errors
    /// When the storage fails or a bill cannot be read.
    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError>;
}

#[async_trait]
impl<L> SessionReports for L
where
    L: StoreLayer<Inner: SessionReports> + Send + Sync + Debug + ?Sized,
{
    async fn count_approvals(&self, filter: &ApprovalFilter) -> Result<u64, SessionError> {
        self.inner().count_approvals(filter).await
    }

    async fn last_events(&self, runs: &[RunKey<'_>], count: u64) -> Result<Vec<Vec<StoredEvent>>, SessionError> {
        self.inner().last_events(runs, count).await
    }

    async fn bills(&self, tenant: &str, places: &[BillPlace]) -> Result<Vec<Vec<CostEntry>>, SessionError> {
        self.inner().bills(tenant, places).await
    }

    async fn spending(&self, filter: &SpendingFilter) -> Result<Vec<BilledMessage>, SessionError> {
        self.inner().spending(filter).await
    }
}
