//! Removing what is older than the retention of the server.

use std::time::Duration;

use agcore_memory::session::{Pruned, Retention};

use super::state::Service;

/// The largest number of sessions, of runs, of events and of audit messages that are removed at once, so that runs do not wait for long.
const BATCH: u64 = 100;

impl Service {
    /// Removes old rows now and again after each pause, until the server stops.
    pub(crate) async fn prune_regularly(&self, retention: Retention, pause: Duration) {
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.prune(&retention) => {}
            }
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.clock.sleep(pause) => {}
            }
        }
    }

    /// Removes all old rows. If the store fails, the next pass removes the rest.
    async fn prune(&self, retention: &Retention) {
        let mut sum = Pruned::default();
        loop {
            match self.store.prune(retention, BATCH).await {
                Ok(pruned) if pruned.is_empty() => break,
                Ok(pruned) => sum.add(pruned),
                Err(error) => {
                    tracing::warn!(?error, "old rows were not removed");
                    break;
                }
            }
        }
        // Forgets the runs that have ended.
        if let Err(error) = self.registry.open_jobs().await {
            tracing::warn!(?error, "the list of open runs was not shortened");
        }
        if !sum.is_empty() {
            let Pruned {
                sessions,
                runs,
                events,
                audit_messages,
                ..
            } = sum;
            tracing::info!(sessions, runs, events, audit_messages, "old rows were removed");
        }
    }
}
