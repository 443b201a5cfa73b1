//! The ends of runs whose turns could not store them.

use std::sync::Arc;

use agcore_agent::AgentError;
use agcore_agui::RUN_CANCELED;
use agcore_session::{
    Commit, RunChange, RunFilter, RunStatus, SessionError, SessionErrorKind, SessionState, SessionStatus,
};

use super::Attempt;
use crate::{
    log::{LogInput, RunLog},
    service::state::Service,
};

impl Service {
    /// Ends a run whose turn could not report it.
    pub(in crate::service) async fn fail(&self, log: &Arc<RunLog>, error: &AgentError) -> Attempt {
        let (status, entry) = match error.is_cancelled() {
            true => (RunStatus::Cancelled, LogInput::Cancelled),
            false => {
                tracing::warn!(run = log.job.run, ?error, "a run has failed");
                (RunStatus::Failed, LogInput::Failed(error.fault()))
            }
        };
        self.end_stored(log, status, entry).await
    }

    pub(in crate::service) async fn end_stored(
        &self,
        log: &Arc<RunLog>,
        status: RunStatus,
        entry: LogInput,
    ) -> Attempt {
        if let Err(error) = log.flush().await
            && !error.is_recoverable()
        {
            // What cannot be stored must not keep the run from its end.
            tracing::error!(?error, run = log.job.run, "a part of a run cannot be stored");
            log.discard().await;
        }
        match self.end(log, status, entry.clone()).await {
            Ok(attempt) => attempt,
            Err(error) => {
                tracing::warn!(run = log.job.run, ?error, "the end of a run waits for the database");
                Attempt::EndLater(status, Box::new(entry))
            }
        }
    }

    /// Ends a run whose end could not be stored.
    pub(in crate::service) async fn end_again(&self, log: &Arc<RunLog>, status: RunStatus, entry: LogInput) -> Attempt {
        if log.parked.is_cancelled() {
            return Attempt::Parked;
        }
        match log.feed.is_over() {
            true => Attempt::Ended,
            false => self.end_stored(log, status, entry).await,
        }
    }

    pub(in crate::service) async fn end(
        &self,
        log: &Arc<RunLog>,
        status: RunStatus,
        entry: LogInput,
    ) -> Result<Attempt, SessionError> {
        let ended = async {
            let mut commit = Commit::new();
            if status == RunStatus::Failed {
                // A run that waits fails only after it has started.
                commit = commit.with_run(RunChange::new(&*log.job.run, RunStatus::Running));
            }
            commit.state = self.state_after(log, &entry).await?;
            commit = commit.with_run(RunChange::new(&*log.job.run, status));
            log.append_commit(commit, vec![entry]).await
        };
        match ended.await {
            Ok(()) => Ok(Attempt::Ended),
            Err(error)
                if matches!(
                    error.kind(),
                    SessionErrorKind::NotFound | SessionErrorKind::InvalidState
                ) =>
            {
                // The session was deleted, or the run has ended elsewhere.
                tracing::warn!(?error, run = log.job.run, "the end of a run was not stored");
                Ok(Attempt::Ended)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the state of the session after a run whose turn could not store it, so that the session is not left as running.
    async fn state_after(&self, log: &RunLog, end: &LogInput) -> Result<Option<SessionState>, SessionError> {
        let (tenant, thread) = log.job.session();
        let session = self.store().get_session(tenant, thread).await?;
        let (status, state) = match (session, end) {
            (Some(session), LogInput::Failed(fault)) => (session.status, SessionState::failed(fault.kind.to_string())),
            (Some(session), LogInput::Cancelled) => (session.status, SessionState::failed(RUN_CANCELED)),
            _ => return Ok(None),
        };
        match (status, end) {
            (SessionStatus::Running, _) => Ok(Some(state)),
            (SessionStatus::Pending, _) if self.is_asking(log).await? => Ok(None),
            // This run has not changed it until now.
            (SessionStatus::Completed | SessionStatus::Pending, LogInput::Failed(_)) => {
                let running = Commit::new().with_state(SessionState::running());
                log.append_commit(running, Vec::new()).await?;
                Ok(Some(state))
            }
            (SessionStatus::Failed, LogInput::Failed(_)) => Ok(Some(state)),
            _ => Ok(None),
        }
    }

    /// Returns whether a run of the thread waits for a person.
    async fn is_asking(&self, log: &RunLog) -> Result<bool, SessionError> {
        let (tenant, thread) = log.job.session();
        let open = self.store().runs(tenant, thread, &RunFilter::new().open()).await?;
        Ok(open.iter().any(|run| run.status == RunStatus::Interrupted))
    }
}
