//! Removing data that is older than the retention of the server.

use std::{sync::Arc, time::Duration};

use agcore_files::FileStorage;
use agcore_session::{Pruned, Retention};
use agcore_store::user_data::UserDataStore;

use super::state::Service;
use crate::{
    files::{FileRetention, prune_files},
    stored::StoredCatalog,
};

/// The largest number of sessions, of runs, of events and of audit messages that are removed at once, so that runs do not wait for
/// long.
const BATCH: u64 = 100;

/// The rules for uploaded files, and where they are.
#[derive(Clone)]
pub(crate) struct FilePruning {
    pub(crate) rules: FileRetention,
    pub(crate) store: Arc<dyn UserDataStore>,
    pub(crate) storage: Arc<dyn FileStorage>,
}

impl FilePruning {
    /// Returns the rules with the storage, if there are both.
    pub(crate) fn of(
        rules: Option<(FileRetention, Arc<dyn UserDataStore>)>,
        storage: Option<Arc<dyn FileStorage>>,
    ) -> Option<Self> {
        let ((rules, store), storage) = rules.zip(storage)?;
        Some(Self { rules, store, storage })
    }
}

impl Service {
    /// Removes old rows and files now and again after each pause, until the server stops.
    pub(crate) async fn prune_regularly(&self, retention: Retention, files: Option<FilePruning>, pause: Duration) {
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.prune(&retention, files.as_ref()) => {}
            }
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.clock.sleep(pause) => {}
            }
        }
    }

    /// Replaces the catalog with each new version of the stored one, until the server stops.
    pub(crate) async fn reload_catalog(&self, source: StoredCatalog, pause: Duration) {
        let Some(catalog) = &self.catalog else { return };
        let mut seen = None;
        loop {
            tokio::select! {
                () = self.stopping.cancelled() => return,
                () = self.clock.sleep(pause) => {}
            }
            match source.newer_than(seen).await {
                Ok(Some((version, parsed))) => {
                    seen = Some(version);
                    match parsed {
                        Ok(new) => {
                            catalog.replace(Arc::new(new));
                            tracing::info!(version, "the stored catalog is used");
                        }
                        Err(error) => {
                            let error = error.to_string();
                            tracing::warn!(
                                version,
                                error,
                                "the stored catalog is not valid; the one before stays in use"
                            );
                        }
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(?error, "the stored catalog cannot be read; the one before stays in use"),
            }
        }
    }

    /// Removes all old rows. If the store fails, the next pass removes the rest.
    async fn prune(&self, retention: &Retention, files: Option<&FilePruning>) {
        let mut sum = Pruned::default();
        loop {
            match self.store().prune(retention, BATCH).await {
                Ok(pruned) if pruned.is_empty() => break,
                Ok(pruned) => sum.add(pruned),
                Err(error) => {
                    tracing::warn!(?error, "old rows were not removed");
                    break;
                }
            }
        }
        if let Some(FilePruning { rules, store, storage }) = files {
            match prune_files(&**store, &**storage, &*self.clock, rules).await {
                Ok(0) => {}
                Ok(files) => tracing::info!(files, "old files were deleted"),
                Err(error) => tracing::warn!(?error, "old files were not deleted"),
            }
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
