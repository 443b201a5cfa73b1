//! Announcing runs to the workers of other processes, and following their announcements.

use std::{sync::Arc, time::Duration};

use crate::service::state::Service;

/// The pause between two announcements, and between two claims because of some. Runs that come meanwhile are announced together.
const PAUSE: Duration = Duration::from_millis(20);

/// The pause after which a process that cannot follow announcements tries again. Until then it finds runs when it asks for them.
const RETRY: Duration = Duration::from_secs(1);

impl Service {
    /// Announces the runs that this process does not take, until the server stops.
    pub(crate) async fn announce_all(self: Arc<Self>) {
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.leasing.offered.notified() => {}
            }
            self.announce_now().await;
            self.rest(PAUSE).await;
        }
    }

    /// Wakes the workers of other processes, because a run can be claimed. Without this, they find it a little later.
    pub(super) async fn announce_now(&self) {
        if !self.leasing.is_shared {
            return;
        }
        if let Err(error) = self.leasing.leases.announce().await {
            tracing::debug!(?error, "a run was not announced to other processes");
        }
    }

    /// Claims runs when other processes announce some, until the server stops.
    pub(crate) async fn follow_announcements(self: Arc<Self>) {
        loop {
            let announced = tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.parking.cancelled() => return,
                announced = self.leasing.leases.announced() => announced,
            };
            let pause = match announced {
                Ok(()) => {
                    self.leasing.wake();
                    PAUSE
                }
                Err(error) => {
                    tracing::debug!(
                        ?error,
                        "announcements of runs are not received; the next attempt is soon"
                    );
                    RETRY
                }
            };
            self.rest(pause).await;
        }
    }

    /// Waits for a while, or until the server stops.
    async fn rest(&self, pause: Duration) {
        tokio::select! {
            () = self.stopping.cancelled() => {}
            () = self.clock.sleep(pause) => {}
        }
    }
}
