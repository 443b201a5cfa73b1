//! [`RunAdministration`]: looking after tenants, workers and dead letters.

use std::fmt::Debug;

use async_trait::async_trait;

use super::writer::StoreLayer;
use crate::{
    error::SessionError,
    lease::{DeadLetter, DeadLetterFilter, HeldRun, TenantRuns, Worker, WorkerReport},
};

/// Looks after what shares the runs of a store by their [leases](crate::RunLeases): tenants with their shares, the processes that
/// execute runs, and dead letters.
///
/// Processes [report](Self::report_worker) themselves again and again, so that others can list them. The answer contains whether
/// somebody has asked a process to [drain](Self::drain_worker), so that it learns this wherever the request was made. Reports
/// decide
/// about no lease: a process that reports nothing loses no run, and one whose reports are late keeps what it has.
///
/// All times are those of the database, as for leases.
///
/// Every implementation must pass the suite `agcore_testkit::stores::leases`.
///
/// ```
/// use agcore_chat::SystemClock;
/// use agcore_session::{InMemorySessionStore, RunAdministration, WorkerReport};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = InMemorySessionStore::new(SystemClock::shared());
/// let report = WorkerReport::new("process-1", "worker on build-7");
/// assert_eq!(store.report_worker(&report).await?.drain_requested_at, None);
///
/// // From another process:
/// assert!(store.drain_worker("process-1", true).await?.is_some());
/// assert!(store.report_worker(&report).await?.drain_requested_at.is_some());
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait RunAdministration: Send + Sync + Debug {
    /// Returns the tenants that have sessions or a share, in the order of their names, after one of them. No more than `limit`.
    ///
    /// # Errors
    /// When the storage fails.
    async fn tenants(&self, after: Option<&str>, limit: u64) -> Result<Vec<TenantRuns>, SessionError>;

    /// Returns a tenant, if it has sessions or a share.
    ///
    /// # Errors
    /// When the storage fails.
    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError>;

    /// Deletes the share of a tenant, so that the default applies. Returns whether there was one.
    ///
    /// Dropping the future leaves open whether it was deleted.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError>;

    /// Returns a page of the dead letters of a tenant, the oldest first.
    ///
    /// # Errors
    /// When the storage fails.
    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError>;

    /// Discards a dead letter: the run has failed and is not listed any more. It cannot be queued again after that.
    ///
    /// Dropping the future leaves open whether it was discarded.
    ///
    /// # Errors
    /// - [`NotFound`](crate::SessionErrorKind::NotFound) if there is no such run.
    /// - [`InvalidState`](crate::SessionErrorKind::InvalidState) if it is not a dead letter.
    /// - Other errors when the storage fails.
    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError>;

    /// Returns the runs that workers have whose leases hold and whose [holders](HeldRun::holder) begin with a text, in the order of
    /// their tenants, sessions and ids. No more than `limit`. The empty text selects all.
    ///
    /// # Errors
    /// When the storage fails.
    async fn held_runs(&self, holder: &str, limit: u64) -> Result<Vec<HeldRun>, SessionError>;

    /// Keeps the report of a process, in place of the one before. Returns the process, with the time at which somebody has
    /// asked it to claim no more runs, if so.
    ///
    /// Processes whose time is over for a day are forgotten.
    ///
    /// Dropping the future leaves open whether it was kept.
    ///
    /// # Errors
    /// When the report is not acceptable or the storage fails.
    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError>;

    /// Forgets a process, which ends. Returns whether it was known.
    ///
    /// Dropping the future leaves open whether it was forgotten.
    ///
    /// # Errors
    /// When the storage fails.
    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError>;

    /// Returns the processes that count as alive, those that have reported first come first. No more than `limit`.
    ///
    /// # Errors
    /// When the storage fails.
    async fn workers(&self, limit: u64) -> Result<Vec<Worker>, SessionError>;

    /// Asks a process to claim no more runs, or takes that back. The process learns it with its next report. Asking again changes
    /// nothing. Returns the process, or `None` if there is none that counts as alive.
    ///
    /// Dropping the future leaves open whether it was asked.
    ///
    /// # Errors
    /// When the storage fails.
    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError>;

    /// Returns whether a newer version of the program has changed the tables of the store since it was opened. Changes only add, so
    /// that an older process can end the runs that it has, but it must claim no more.
    ///
    /// # Errors
    /// When the storage fails.
    async fn is_outdated(&self) -> Result<bool, SessionError>;
}

#[async_trait]
impl<L> RunAdministration for L
where
    L: StoreLayer<Inner: RunAdministration> + Send + Sync + Debug + ?Sized,
{
    async fn tenants(&self, after: Option<&str>, limit: u64) -> Result<Vec<TenantRuns>, SessionError> {
        self.inner().tenants(after, limit).await
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        self.inner().tenant(tenant).await
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        self.inner().delete_share(tenant).await
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        self.inner().dead_letter_page(filter).await
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        self.inner().discard_dead_letter(tenant, session, run).await
    }

    async fn held_runs(&self, holder: &str, limit: u64) -> Result<Vec<HeldRun>, SessionError> {
        self.inner().held_runs(holder, limit).await
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        self.inner().report_worker(report).await
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        self.inner().forget_worker(id).await
    }

    async fn workers(&self, limit: u64) -> Result<Vec<Worker>, SessionError> {
        self.inner().workers(limit).await
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        self.inner().drain_worker(id, drains).await
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        self.inner().is_outdated().await
    }
}
