//! The reports of this process, by which administrators find it, and what they ask it for.

use std::{sync::Arc, time::Duration};

use agcore_session::{SessionError, Worker, WorkerReport};

use crate::service::state::Service;

/// The longest time for which the end of this process waits for its last report.
const LAST: Duration = Duration::from_secs(1);

/// The number of reports that may be missing before the process counts as gone.
const MISSING: u32 = 4;

impl Service {
    /// Reports that this process executes runs, and learns whether it is to claim no more, until the server parks.
    pub(crate) async fn report_regularly(self: Arc<Self>) {
        let pause = self.leasing.report_pause();
        while !self.parking.is_cancelled() {
            let answered = tokio::select! {
                () = self.parking.cancelled() => break,
                answered = self.report(pause) => answered,
            };
            match answered {
                Ok(reported) => {
                    self.follow_drain(reported.drain_requested_at.is_some());
                    self.check_version().await;
                }
                Err(error) => tracing::warn!(
                    ?error,
                    "this process was not reported to administrators; the next report is soon"
                ),
            }
            tokio::select! {
                () = self.parking.cancelled() => break,
                () = self.clock.sleep(pause) => {}
            }
        }
        // The others learn of the end when no report comes, if this one is not stored.
        tokio::select! {
            forgotten = self.store().forget_worker(&self.leasing.process) => {
                if let Err(error) = forgotten {
                    tracing::debug!(?error, "the end of this process was not reported");
                }
            }
            () = self.clock.sleep(LAST) => {}
        }
    }

    /// Reports once. Returns the process as others see it.
    async fn report(&self, pause: Duration) -> Result<Worker, SessionError> {
        let settings = &self.leasing.settings;
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let mut report = WorkerReport::new(&*self.leasing.process, &*settings.name).with_length(pause * MISSING);
        env!("CARGO_PKG_VERSION").clone_into(&mut report.version);
        report.slots = small(settings.slots);
        report.runs = small(self.active.len());
        report.tenants = settings.tenants.iter().map(|tenant| tenant.as_str().into()).collect();
        report.is_draining = !self.leasing.claims() || self.stopping.is_cancelled();
        self.store().report_worker(&report).await
    }

    /// Claims no more runs once a newer version of the program has changed the tables of the database, and ends those that it has.
    async fn check_version(&self) {
        let is_outdated = match self.store().is_outdated().await {
            Ok(is_outdated) => is_outdated,
            Err(error) => {
                tracing::warn!(
                    ?error,
                    "the version of the database was not read; the next attempt is soon"
                );
                return;
            }
        };
        if self.leasing.set_outdated(is_outdated) == is_outdated {
            return;
        }
        if is_outdated && !self.leasing.is_shared() {
            tracing::warn!(
                version = env!("CARGO_PKG_VERSION"),
                "a newer version of agcore has upgraded the database; replace this server by the newer version"
            );
        } else if is_outdated {
            tracing::warn!(
                runs = self.active.len(),
                version = env!("CARGO_PKG_VERSION"),
                "a newer version of agcore has upgraded the database; this process ends the runs that it has and claims no more: \
                 replace it by the newer version"
            );
        } else {
            tracing::info!("the database has the version of this process again; it claims runs again");
            self.leasing.wake();
        }
    }

    /// Claims no more runs from here on, or does so again. Runs that do not end in time are left to other processes.
    pub(super) fn follow_drain(self: &Arc<Self>, drains: bool) {
        let draining = &self.leasing.draining;
        if !drains {
            if draining.end() {
                tracing::info!("this process claims runs again");
                self.leasing.wake();
            }
            return;
        }
        let Some(undrained) = draining.begin() else { return };
        tracing::info!(
            runs = self.active.len(),
            "an administrator has asked this process to claim no more runs"
        );
        let service = Arc::clone(self);
        self.tasks.spawn(async move {
            tokio::select! {
                () = undrained.cancelled() => {}
                () = service.clock.sleep(service.limits.drain) => service.leasing.draining.park(),
            }
        });
    }
}
