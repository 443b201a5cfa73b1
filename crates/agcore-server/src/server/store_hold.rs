//! The store of a server, which one server uses at a time.

use std::{future, sync::Arc};

use agcore_session::Hold;
use axum::Router;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Server, serve};
use crate::error::ServerError;

impl Server {
    /// Waits until no other server uses the store, and takes it: for a restart in which the new process is started before the old
    /// one has ended. Returns whether it was taken; it was not if `stop` was cancelled first. If another server uses it, `waiting`
    /// is called with the [reason](ServerError::InUse).
    ///
    /// Followers of runs lose nothing: runs that the other server has left continue here, and so do their streams after the last
    /// event that a client has received.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// [`Store`](ServerError::Store) if the store cannot be used, for another reason than an outage.
    pub async fn wait_for_store(
        &self,
        stop: &CancellationToken,
        waiting: impl FnOnce(&ServerError) + Send,
    ) -> Result<bool, ServerError> {
        self.app.service.wait_for_database(stop, waiting).await
    }

    /// Takes the store, as [`serve`](Self::serve) does otherwise.
    ///
    /// # Errors
    /// [`InUse`](ServerError::InUse) if another server uses it, [`Store`](ServerError::Store) if it cannot be used.
    pub async fn take_store(&self) -> Result<(), ServerError> {
        self.app.service.take_database().await
    }

    /// Serves routes until `stop` is cancelled, or until another server has taken the store over.
    pub(super) async fn serve_while_held(
        &self,
        router: Router,
        listener: TcpListener,
        stop: &CancellationToken,
        hold: Option<&Hold>,
    ) -> Result<(), ServerError> {
        let service = Arc::clone(&self.app.service);
        let stop = stop.child_token();
        let served = serve::serve(listener, router, service, stop.clone());
        self.while_held(served, &stop, hold).await
    }

    /// Executes runs until `stop` is cancelled, or until another server has taken the store over.
    pub(super) async fn work_while_held(
        &self,
        stop: &CancellationToken,
        hold: Option<&Hold>,
    ) -> Result<(), ServerError> {
        let service = Arc::clone(&self.app.service);
        let stop = stop.child_token();
        let stopped = stop.clone();
        let worked = async move {
            stopped.cancelled().await;
            service.stopping.cancel();
            serve::drain(&service).await;
        };
        self.while_held(worked, &stop, hold).await
    }

    /// Works until the end, which begins when `stop` is cancelled, or when another server has taken the store over.
    async fn while_held(
        &self,
        work: impl Future<Output = ()>,
        stop: &CancellationToken,
        hold: Option<&Hold>,
    ) -> Result<(), ServerError> {
        let service = &self.app.service;
        let lost = async {
            match hold {
                Some(hold) => service.lost(hold).await,
                None => future::pending().await,
            }
        };
        tokio::pin!(work);
        tokio::select! {
            () = &mut work => return Ok(()),
            () = lost => {}
        }
        // Nothing may be driven in two processes.
        service.parking.cancel();
        stop.cancel();
        work.await;
        Err(ServerError::TakenOver)
    }
}
