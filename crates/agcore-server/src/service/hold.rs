//! Waiting for the right to use the database, and taking the right to drive a session.

use std::{sync::Arc, time::Duration};

use agcore_chat::Actor;
use agcore_session::{Hold, SessionError, SessionErrorKind, id, stream_of};
use tokio_util::sync::CancellationToken;

use super::state::Service;
use crate::{
    error::ServerError,
    log::RunLog,
    problem::{Problem, ProblemCode},
};

/// The pause between two looks whether another server has ended, or has taken over.
const PAUSE: Duration = Duration::from_millis(500);

/// The number of times a request checks whether other processes have finished what they do with its thread.
const LOOKS: u32 = 20;

impl Service {
    /// Takes the database for this server, unless it has it already.
    ///
    /// # Errors
    /// `InUse` if another server has it, and errors of the store.
    pub(crate) async fn take_database(&self) -> Result<(), ServerError> {
        self.database.take(&**self.store(), self.leasing.is_shared()).await
    }

    /// Waits until this server has the database. Returns whether it has: it has not if `stop` was cancelled first. Calls `waiting`
    /// once if another server has it.
    ///
    /// # Errors
    /// When the store cannot be used, for another reason than an outage.
    pub(crate) async fn wait_for_database(
        &self,
        stop: &CancellationToken,
        waiting: impl FnOnce(&ServerError) + Send,
    ) -> Result<bool, ServerError> {
        let mut waiting = Some(waiting);
        loop {
            match self.take_database().await {
                Ok(()) => return Ok(true),
                Err(error @ ServerError::InUse(_)) => {
                    if let Some(waiting) = waiting.take() {
                        waiting(&error);
                    }
                }
                // As during a failover, which may be the reason for the restart.
                Err(ServerError::Store(error)) if error.is_recoverable() => {
                    tracing::warn!(?error, "the database cannot be used at the moment");
                }
                Err(error) => return Err(error),
            }
            tokio::select! {
                () = stop.cancelled() => return Ok(false),
                () = self.clock.sleep(PAUSE) => {}
            }
        }
    }

    /// Waits until the right to use the database is lost: the connection broke, and another server was faster.
    pub(crate) async fn lost(&self, hold: &Hold) {
        while !hold.is_lost() {
            self.clock.sleep(PAUSE).await;
        }
        tracing::error!("another server has taken over the database: the connection was lost; this server ends");
    }

    /// Takes the right to drive the session of a run, for as long as the result is kept.
    ///
    /// # Errors
    /// When another program drives it, or the store fails.
    pub(super) async fn hold_of(&self, log: &RunLog) -> Result<Arc<Hold>, SessionError> {
        let (tenant, thread) = log.job.session();
        Ok(Arc::new(self.hold_of_session(tenant, thread).await?))
    }

    /// Takes the right to change which runs a thread has, which one request of all processes has at a time. A process with a store
    /// of its own needs none.
    ///
    /// # Errors
    /// `session_busy` if other requests keep it for too long, and errors of the store.
    pub(super) async fn admission_to(&self, actor: &Actor, thread: &str) -> Result<Hold, Problem> {
        if !self.leasing.is_shared {
            return Ok(Hold::granted());
        }
        let name = id::join(["admission", &actor.tenant, thread]);
        for _ in 0..LOOKS {
            match self.store().hold(&name).await {
                Err(error) if error.kind() == SessionErrorKind::Held => {
                    tokio::select! {
                        () = self.parking.cancelled() => break,
                        () = self.clock.sleep(Duration::from_millis(25)) => {}
                    }
                }
                result => return Ok(result?),
            }
        }
        let detail = "other requests for this thread are not finished; try again";
        Err(Problem::new(ProblemCode::SessionBusy, detail))
    }

    /// Takes the right to drive a session: alone, or together with the other processes that share its runs. Among these, the lease
    /// decides which one may write.
    pub(super) async fn hold_of_session(&self, tenant: &str, thread: &str) -> Result<Hold, SessionError> {
        let name = stream_of(tenant, thread);
        match self.leasing.is_shared {
            true => self.store().hold_shared(&name).await,
            false => self.store().hold(&name).await,
        }
    }

    /// Checks that no other program drives a thread, unless this server executes a run of it.
    ///
    /// # Errors
    /// When another program drives it, or the store fails.
    pub(super) async fn check_is_free(&self, tenant: &str, thread: &str) -> Result<(), SessionError> {
        if !self.active.of_thread(tenant, thread).is_empty() {
            return Ok(());
        }
        drop(self.hold_of_session(tenant, thread).await?);
        Ok(())
    }
}

/// Returns whether another program drives the session.
pub(super) fn is_held(error: &SessionError) -> bool {
    error.kind() == SessionErrorKind::Held
}
