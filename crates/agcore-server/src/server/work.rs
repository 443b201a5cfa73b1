//! Executing runs, with or without accepting requests.

use std::sync::Arc;

use agcore_session::Hold;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::Server;
use crate::{error::ServerError, routes};

impl Server {
    /// Executes runs until `stop` is cancelled, without accepting requests: a worker of a store that is
    /// [shared](crate::ServerBuilder::with_sharing).
    ///
    /// When `stop` is cancelled, no more runs are claimed. Those that are active have [some time](crate::Limits::drain) to end;
    /// the leases of the others are released, and other workers continue them at once.
    ///
    /// Dropping the future ends everything at once, like the end of the process.
    ///
    /// # Errors
    /// [`NotShared`](ServerError::NotShared) if the server shares no store, or executes no runs in its
    /// [role](crate::Sharing::role), and the errors of [`serve`](Self::serve) that concern the store.
    pub async fn work(&self, stop: CancellationToken) -> Result<(), ServerError> {
        self.work_with(None, stop).await
    }

    /// Like [`work`](Self::work), and answers `/health`, `/ready` and `/metrics` on a listener, for those who supervise the worker.
    /// They need no credentials.
    ///
    /// `/ready` has the status 503 while the worker stops, and when the database has not answered for the length of a lease.
    ///
    /// # Errors
    /// Those of [`work`](Self::work).
    pub async fn work_and_report(&self, listener: TcpListener, stop: CancellationToken) -> Result<(), ServerError> {
        self.work_with(Some(listener), stop).await
    }

    async fn work_with(&self, listener: Option<TcpListener>, stop: CancellationToken) -> Result<(), ServerError> {
        let leasing = &self.app.service.leasing;
        if !leasing.is_shared() || !leasing.works() {
            return Err(ServerError::NotShared);
        }
        let hold = self.begin().await?;
        let guard = self.app.service.parking.clone().drop_guard();
        let result = match listener {
            Some(listener) => {
                let router = routes::worker_router(Arc::clone(&self.app));
                self.serve_while_held(router, listener, &stop, hold.as_ref()).await
            }
            None => self.work_while_held(&stop, hold.as_ref()).await,
        };
        drop(guard);
        drop(hold);
        result
    }

    /// Takes the store, and begins to execute runs and to keep the store in order.
    pub(super) async fn begin(&self) -> Result<Option<Hold>, ServerError> {
        let service = &self.app.service;
        self.take_store().await?;
        let hold = service.database.keep();
        let left = service.take_over(self.unfinished).await.map_err(ServerError::Store)?;
        if left > 0 {
            tracing::info!(left, unfinished = ?self.unfinished, "an earlier process has left runs");
        }
        service.tasks.spawn(Arc::clone(service).renew_all());
        if service.leasing.is_shared() {
            service.tasks.spawn(Arc::clone(service).announce_all());
        }
        if service.leasing.works() {
            if service.leasing.is_shared() {
                service.tasks.spawn(Arc::clone(service).follow_announcements());
            }
            service.tasks.spawn(Arc::clone(service).claim_all());
            service.tasks.spawn(Arc::clone(service).report_regularly());
            service.tasks.spawn(Arc::clone(service).keep_schedules());
            service.tasks.spawn(Arc::clone(service).send_webhooks());
        }
        let flushing = Arc::clone(service);
        service
            .tasks
            .spawn(async move { flushing.flusher.lock().await.run(&flushing.parking).await });
        self.keep_in_order();
        Ok(hold)
    }

    /// Begins to remove old data, and to use new versions of the catalog.
    fn keep_in_order(&self) {
        let service = &self.app.service;
        if !self.retention.is_empty() || self.file_pruning.is_some() {
            let (pruning, retention, pause) = (Arc::clone(service), self.retention, self.prune_pause);
            let files = self.file_pruning.clone();
            service
                .tasks
                .spawn(async move { pruning.prune_regularly(retention, files, pause).await });
        }
        if let Some((source, pause)) = self.stored_catalog.clone() {
            let reloading = Arc::clone(service);
            service
                .tasks
                .spawn(async move { reloading.reload_catalog(source, pause).await });
        }
    }
}
