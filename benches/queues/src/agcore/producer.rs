//! [`Producer`]: adds runs and announces them, as agcore-server does for runs that it does not execute.

use std::{sync::Arc, time::Duration};

use agcore_session::RunLeases;
use agcore_store::postgres::PostgresStore;
use tokio::{sync::Notify, task::AbortHandle, time::sleep};

/// The pause between two announcements in agcore-server. Runs that are added meanwhile are announced together.
const PAUSE: Duration = Duration::from_millis(20);

/// Connections for adding runs.
#[derive(Debug, Clone)]
pub struct Producer {
    store: PostgresStore,
    added: Arc<Notify>,
    announcing: AbortHandle,
}

impl Producer {
    pub(super) fn start(store: PostgresStore) -> Self {
        let added = Arc::new(Notify::new());
        let announcing = tokio::spawn({
            let (store, added) = (store.clone(), Arc::clone(&added));
            async move {
                loop {
                    added.notified().await;
                    if let Err(error) = store.announce().await {
                        eprintln!("a run was not announced: {error}");
                    }
                    sleep(PAUSE).await;
                }
            }
        });
        Self {
            store,
            added,
            announcing: announcing.abort_handle(),
        }
    }

    pub(super) fn store(&self) -> &PostgresStore {
        &self.store
    }

    /// Has the workers of other processes claim soon.
    pub(super) fn announce(&self) {
        self.added.notify_one();
    }

    pub(super) async fn stop(self) {
        self.announcing.abort();
        self.store.close().await;
    }
}
