//! Executing runs under their leases, alone or together with other processes.

mod announcements;
mod claims;
mod renewals;
mod feeds;
mod reports;
mod administration;

use agcore_session::{CancelRequest, SessionError};

use super::state::Service;
use crate::{run::RunJob, settings::Unfinished};

impl Service {
    /// Takes the runs that an earlier process has left, if this process has the store for itself. Returns their number.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn take_over(&self, unfinished: Unfinished) -> Result<u64, SessionError> {
        match self.leasing.is_shared {
            true => Ok(0),
            false => self.leasing.leases.take_over(unfinished == Unfinished::Cancel).await,
        }
    }

    /// Has the runs of a thread tried again that wait for an answer, or for the run with the answer.
    pub(super) async fn end_delays(&self, tenant: &str, thread: &str) {
        if !self.leasing.may_have_delays() {
            return;
        }
        match self.leasing.leases.end_delays(tenant, thread).await {
            Ok(0) => {}
            Ok(_) => self.leasing.offer(),
            Err(error) => tracing::warn!(?error, "runs that wait begin later"),
        }
    }

    /// Has a run cancelled by the process that executes it, or by the next one that claims it. The wish is stored.
    ///
    /// # Errors
    /// Errors of the store.
    pub(super) async fn request_cancel(&self, job: &RunJob) -> Result<(), SessionError> {
        let (tenant, thread) = job.session();
        let found = self.leasing.leases.request_cancel(tenant, thread, &job.run).await?;
        if found == CancelRequest::Over {
            return Ok(());
        }
        match self.active.get(job) {
            Some(log) => {
                log.feed.request_cancel();
                log.token.cancel();
            }
            None => self.leasing.wake(),
        }
        Ok(())
    }
}
