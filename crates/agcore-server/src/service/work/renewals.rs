//! Renewing the leases of the runs that this process executes.

use std::sync::Arc;

use agcore_session::{Lease, Renewal, SessionError};

use crate::{
    lease::{HeldLease, Moment},
    log::RunLog,
    service::state::Service,
};

impl Service {
    /// Renews the leases of all runs that are executed here, and learns which of them are to be cancelled, until the server parks.
    pub(crate) async fn renew_all(self: Arc<Self>) {
        let leasing = &self.leasing;
        let pause = leasing.settings.lease / 3;
        // A process that has the store for itself knows what its users want.
        let look = match leasing.is_shared {
            true => leasing.settings.poll,
            false => pause,
        };
        let mut renewed = self.clock.monotonic();
        loop {
            tokio::select! {
                () = self.parking.cancelled() => return,
                () = self.clock.sleep(look.min(pause)) => {}
            }
            let mut held = self.active.leased();
            // Others may have those that are over.
            held.retain(|(_, lease)| !lease.is_over());
            let now = self.clock.monotonic();
            let is_due = now.saturating_sub(renewed) >= pause;
            if held.is_empty() {
                continue;
            }
            let answered = tokio::select! {
                answered = self.ask(&held, is_due) => answered,
                // A connection that does not answer must not keep the next renewal back.
                () = self.clock.sleep(pause) => continue,
            };
            match answered {
                Ok(()) => {
                    leasing.note_answer(now);
                    renewed = if is_due { now } else { renewed };
                }
                Err(error) => tracing::warn!(?error, "the leases of runs were not renewed; they are tried again"),
            }
        }
    }

    /// Renews the leases of runs, or only asks whether they are to be cancelled.
    async fn ask(&self, held: &[HeldRun], renews: bool) -> Result<(), SessionError> {
        let leases: Vec<Lease> = held.iter().map(|(_, lease)| lease.lease().clone()).collect();
        if !renews {
            let wanted = self.leasing.leases.cancel_requests(&leases).await?;
            for ((log, _), _) in held.iter().zip(wanted).filter(|(_, is_wanted)| *is_wanted) {
                cancel(log);
            }
            return Ok(());
        }
        let asked = Moment::now(&*self.clock);
        let renewals = self.leasing.leases.renew(&leases).await?;
        for ((log, lease), renewal) in held.iter().zip(renewals) {
            lease.renewed(renewal, asked);
            match renewal {
                Renewal::Held { cancel_requested, .. } if cancel_requested => cancel(log),
                Renewal::Held { .. } => {}
                // It has ended in the meantime.
                Renewal::Lost if log.feed.is_over() => {}
                Renewal::Lost => tracing::warn!(run = log.job.run, "the lease of a run was lost"),
            }
        }
        Ok(())
    }

    /// Returns whether this process may still work on a run after a failure, which may be that of a write without a lease.
    pub(in crate::service) async fn is_still_held(&self, log: &RunLog) -> bool {
        let Some(lease) = &log.lease else { return true };
        let asked = Moment::now(&*self.clock);
        // If the store does not answer, the clocks decide.
        if !lease.is_over()
            && let Ok(renewals) = self.leasing.leases.renew(&[lease.lease().clone()]).await
        {
            renewals.into_iter().for_each(|renewal| lease.renewed(renewal, asked));
        }
        !lease.is_over()
    }
}

/// A run that is executed here, with its lease.
pub(in crate::service) type HeldRun = (Arc<RunLog>, Arc<HeldLease>);

fn cancel(log: &RunLog) {
    log.feed.request_cancel();
    log.token.cancel();
}
