//! Tenants, workers and dead letters of a store with a flaw.

use std::{sync::PoisonError, time::Duration};

use agcore_session::{
    DeadLetter, DeadLetterFilter, HeldRun, RunAdministration, RunLeases, SessionError, TenantRuns, TenantShare, Worker,
    WorkerReport,
};
use async_trait::async_trait;

use super::store::{Flaw, Flawed};

#[async_trait]
impl RunAdministration for Flawed {
    async fn tenants(&self, after: Option<&str>, limit: u64) -> Result<Vec<TenantRuns>, SessionError> {
        let after = after.filter(|_| self.flaw != Flaw::PagesOfTenantsRepeat);
        let mut found = self.store.tenants(after, limit).await?;
        for tenant in &mut found {
            match self.flaw {
                Flaw::ExpiredLeasesLookHeld => tenant.held += std::mem::take(&mut tenant.waiting),
                Flaw::SharesAreNotListed => tenant.share = None,
                _ => {}
            }
        }
        Ok(found)
    }

    async fn tenant(&self, tenant: &str) -> Result<Option<TenantRuns>, SessionError> {
        match self.flaw {
            Flaw::EveryTenantExists => {
                let found = self.store.tenant(tenant).await?;
                Ok(Some(found.unwrap_or_else(|| TenantRuns::new(tenant, [0; 3], None))))
            }
            _ => self.store.tenant(tenant).await,
        }
    }

    async fn delete_share(&self, tenant: &str) -> Result<bool, SessionError> {
        match self.flaw {
            Flaw::SharesAreNotDeleted => {
                self.store.set_share(tenant, TenantShare::default()).await?;
                Ok(true)
            }
            _ => self.store.delete_share(tenant).await,
        }
    }

    async fn dead_letter_page(&self, filter: &DeadLetterFilter) -> Result<Vec<DeadLetter>, SessionError> {
        match self.flaw {
            Flaw::DeadLettersAreOfAll => self.store.dead_letters(None, filter.limit).await,
            // Those of the same time as the last one of a page are left out.
            Flaw::PagesSkipDeadLetters => {
                let mut page = self.store.dead_letter_page(filter).await?;
                let after = filter.after.as_ref().map(|after| after.at);
                page.retain(|letter| after.is_none_or(|after| letter.at > after));
                Ok(page)
            }
            _ => self.store.dead_letter_page(filter).await,
        }
    }

    async fn discard_dead_letter(&self, tenant: &str, session: &str, run: &str) -> Result<(), SessionError> {
        match self.flaw {
            Flaw::DiscardedLettersStay => Ok(()),
            Flaw::DiscardedLettersAreQueued => self.store.revive(tenant, session, run).await,
            _ => self.store.discard_dead_letter(tenant, session, run).await,
        }
    }

    async fn held_runs(&self, holder: &str, limit: u64) -> Result<Vec<HeldRun>, SessionError> {
        match self.flaw {
            Flaw::HoldersAreMixed => self.store.held_runs("", limit).await,
            Flaw::LostRunsLookHeld => {
                let found = self.store.held_runs(holder, limit).await?;
                let mut last = self.held.lock().unwrap_or_else(PoisonError::into_inner);
                if !found.is_empty() {
                    last.clone_from(&found);
                }
                Ok(if found.is_empty() { last.clone() } else { found })
            }
            _ => self.store.held_runs(holder, limit).await,
        }
    }

    async fn report_worker(&self, report: &WorkerReport) -> Result<Worker, SessionError> {
        let mut report = report.clone();
        match self.flaw {
            Flaw::WorkersNeverEnd if report.check().is_ok() => report.length = Duration::from_secs(20 * 3600),
            Flaw::ReportsBeginAgain => {
                self.store.forget_worker(&report.id).await?;
            }
            _ => {}
        }
        let mut worker = self.store.report_worker(&report).await?;
        if self.flaw == Flaw::DrainRequestsAreLost {
            worker.drain_requested_at = None;
        }
        Ok(worker)
    }

    async fn forget_worker(&self, id: &str) -> Result<bool, SessionError> {
        match self.flaw {
            Flaw::WorkersAreNotForgotten => Ok(true),
            _ => self.store.forget_worker(id).await,
        }
    }

    async fn workers(&self, limit: u64) -> Result<Vec<Worker>, SessionError> {
        self.store.workers(limit).await
    }

    async fn drain_worker(&self, id: &str, drains: bool) -> Result<Option<Worker>, SessionError> {
        match self.flaw {
            Flaw::DrainsStay if !drains => self.store.drain_worker(id, true).await,
            Flaw::AllAreDrained => {
                for worker in self.store.workers(100).await? {
                    self.store.drain_worker(&worker.id, drains).await?;
                }
                self.store.drain_worker(id, drains).await
            }
            _ => self.store.drain_worker(id, drains).await,
        }
    }

    async fn is_outdated(&self) -> Result<bool, SessionError> {
        self.store.is_outdated().await
    }
}
