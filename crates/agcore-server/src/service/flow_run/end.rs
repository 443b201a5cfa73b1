//! The ends of flows, and what they leave in order.

use std::sync::Arc;

use agcore_agui::{Input, RUN_CANCELED};
use agcore_chat::{Fault, FaultKind};
use agcore_flow_files::FlowResult;
use agcore_session::{
    Commit, RunChange, RunFilter, RunStatus, SessionError, SessionErrorKind, SessionState, SessionStatus, SessionStore,
};

use crate::{
    flows::FlowPlace,
    log::{FlowObserver, LogInput, RunLog},
    settings::BusyPolicy,
};
use {
    super::to_json,
    crate::service::{executor::Attempt, state::Service},
};

/// Returns the status of a run, the state of its session and the event with which the run ends.
fn outcome(fault: Option<Fault>) -> (RunStatus, SessionState, LogInput) {
    match fault {
        None => {
            let finished = Input::Run(agcore_agui::Run::finished());
            let end = LogInput::Report(Box::new(finished));
            (RunStatus::Completed, SessionState::completed(), end)
        }
        Some(fault) if fault.kind == FaultKind::Cancelled => {
            let state = SessionState::failed(RUN_CANCELED);
            (RunStatus::Cancelled, state, LogInput::Cancelled)
        }
        Some(fault) => {
            let state = SessionState::failed(fault.kind.to_string());
            (RunStatus::Failed, state, LogInput::Failed(fault))
        }
    }
}

impl Service {
    /// Stores the end of a flow: of one that has finished, with its answer.
    pub(in crate::service) async fn end_flow(
        &self,
        log: &RunLog,
        observer: &FlowObserver,
        result: Result<FlowResult, Fault>,
    ) -> Result<Attempt, SessionError> {
        let mut inputs = Vec::new();
        let mut commit = Commit::new();
        if let Ok(result) = &result
            && let Some((row, message)) = observer.unseen_answer(result.answer.as_deref())
        {
            commit = commit.with_message(row);
            inputs.push(LogInput::Report(Box::new(Input::Text(message))));
        }
        let (status, state, end) = outcome(result.err());
        let place = observer.place();
        if status != RunStatus::Completed {
            // Results of calls that the end has interrupted.
            commit.messages = self.closing_results(log, status).await?;
        }
        if status == RunStatus::Cancelled {
            // If the process ends after this, the next one finds the wish to cancel, and no agent continues.
            self.settle_stages(log, &log.store, &place, &state).await?;
        }
        let change = RunChange::new(&*log.job.run, status).with_outcome(to_json(&place)?);
        // A run that waits fails only after it has started.
        let started = RunChange::new(&*log.job.run, RunStatus::Running);
        let commit = commit.with_run(started).with_run(change).with_state(state.clone());
        inputs.push(end);
        match log.append_commit(commit, inputs).await {
            Ok(()) if status == RunStatus::Failed => {
                // The lease has ended with the run.
                if let Err(error) = self.settle_stages(log, self.store(), &place, &state).await {
                    tracing::warn!(
                        ?error,
                        run = log.job.run,
                        "the sessions of a failed flow were not ended"
                    );
                }
                Ok(Attempt::Ended)
            }
            Ok(()) => Ok(Attempt::Ended),
            Err(error) if is_lost(&error) => {
                // The session was deleted, or the run has ended elsewhere.
                tracing::warn!(?error, run = log.job.run, "the end of a run was not stored");
                Ok(Attempt::Ended)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends a run that was cancelled before it started. Its open questions are withdrawn.
    pub(in crate::service) async fn cancel_flow(
        &self,
        log: &RunLog,
        place: &FlowPlace,
        busy: BusyPolicy,
    ) -> Result<Attempt, SessionError> {
        let mut commit = Commit::new().with_run(RunChange::new(&*log.job.run, RunStatus::Cancelled));
        let is_new = place.run == log.job.run;
        // A new one has asked nothing: the questions are those of a run before it.
        if !is_new || busy == BusyPolicy::Interrupt {
            commit.approvals = self.withdrawals(log).await?;
        }
        let inputs = vec![LogInput::Cancelled];
        if is_new {
            log.append_commit(commit, inputs).await?;
        } else {
            self.cancel_waiting_flow(log, place, commit, inputs).await?;
        }
        Ok(Attempt::Ended)
    }

    /// Stores that a flow was cancelled while it waited for a person.
    pub(in crate::service) async fn cancel_waiting_flow(
        &self,
        log: &RunLog,
        place: &FlowPlace,
        commit: Commit,
        inputs: Vec<LogInput>,
    ) -> Result<(), SessionError> {
        self.settle_stages(log, &log.store, place, &SessionState::failed(RUN_CANCELED))
            .await?;
        self.fail_waiting(log, commit, inputs).await
    }

    /// Stores that the session of a run that was cancelled while it waited has failed, after a commit that ends the run.
    pub(in crate::service) async fn fail_waiting(
        &self,
        log: &RunLog,
        commit: Commit,
        inputs: Vec<LogInput>,
    ) -> Result<(), SessionError> {
        // A session that waits cannot fail at once, and nothing is written after the end of the run.
        let running = Commit::new().with_state(SessionState::running());
        log.append_commit(running, Vec::new()).await?;
        log.append_commit(commit.with_state(SessionState::failed(RUN_CANCELED)), inputs)
            .await
    }

    /// Ends the open runs of the sessions in which the agents of a flow work. No agent works in them any more.
    async fn settle_stages(
        &self,
        log: &RunLog,
        store: &Arc<dyn SessionStore>,
        place: &FlowPlace,
        state: &SessionState,
    ) -> Result<(), SessionError> {
        let tenant = log.job.session().0;
        for stage in place.stages.keys() {
            let Some(session) = self.store().get_session(tenant, stage).await? else {
                continue;
            };
            let open = self.store().runs(tenant, stage, &RunFilter::new().open()).await?;
            let mut commit = Commit::new();
            for run in open {
                commit = commit.with_run(RunChange::new(run.id, RunStatus::Cancelled));
            }
            commit.state = match session.status {
                SessionStatus::Running => Some(state.clone()),
                // It does not wait for a person any more.
                SessionStatus::Pending if session.pending_tool_call_id.is_some() => Some(SessionState::pending()),
                _ => None,
            };
            if !commit.is_empty() {
                store.commit(tenant, stage, session.end, commit).await?;
            }
        }
        Ok(())
    }
}

fn is_lost(error: &SessionError) -> bool {
    matches!(
        error.kind(),
        SessionErrorKind::NotFound | SessionErrorKind::InvalidState
    )
}
