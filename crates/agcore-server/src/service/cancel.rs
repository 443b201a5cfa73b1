//! Cancelling runs, and erasing threads.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{Commit, Run, RunChange, RunStatus};

use super::{
    agents::Work,
    owned::{OwnedRun, OwnedThread},
    state::Service,
};
use crate::{
    flows::FlowPlace,
    log::{LogInput, RunLog},
    problem::{Problem, ProblemCode},
    run::RunInput,
};

impl Service {
    /// Cancels a run. The wish is stored before anything happens, so that it survives the end of the process. Returns the run: it
    /// ends soon. A run that is over stays as it is.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store.
    pub(crate) async fn cancel(self: &Arc<Self>, actor: &Actor, thread: &str, run: &str) -> Result<Run, Problem> {
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        let own = self.own(actor, thread).await?;
        let (job, found) = own.run(run).await?;
        if found.status.is_over() {
            return Ok(found);
        }
        match self.log(&job) {
            Some(log) => self.request_cancel(&log).await?,
            None if found.status == RunStatus::Interrupted => self.abandon(&own, job, &found).await?,
            None => {
                let detail = "the run belongs to a process that has ended; it is found when a server starts";
                return Err(Problem::new(ProblemCode::StoreUnavailable, detail));
            }
        }
        // A message may wait for the answer, or may be what was cancelled.
        self.release_lane((actor.tenant.to_string(), thread.to_owned()));
        Ok(own.run(run).await?.1)
    }

    /// Erases a thread with its parts and everything that belongs to it, except for its bill.
    ///
    /// # Errors
    /// `not_found` if there is no such thread, `session_busy` if one of its runs is active, and errors of the store.
    pub(crate) async fn erase(&self, actor: &Actor, thread: &str) -> Result<(), Problem> {
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        let own = self.own(actor, thread).await?;
        if !self.active.of_thread(&actor.tenant, thread).is_empty() {
            let detail = "a run is active on this thread; cancel it, and delete the thread when the run has ended";
            return Err(Problem::new(ProblemCode::SessionBusy, detail));
        }
        Ok(own.erase().await?)
    }

    pub(super) async fn request_cancel(&self, log: &Arc<RunLog>) -> Result<(), Problem> {
        if !log.feed.is_over() && !log.feed.is_cancel_requested() {
            log.append(Vec::new(), vec![LogInput::CancelRequested]).await?;
        }
        log.token.cancel();
        Ok(())
    }

    /// Gives up what waits for a person. Its calls are not run, and its questions are withdrawn.
    async fn abandon(&self, own: &OwnedThread<'_>, job: OwnedRun, run: &Run) -> Result<(), Problem> {
        let input = run
            .input
            .clone()
            .and_then(|input| serde_json::from_value::<RunInput>(input).ok());
        let entry = self.agents.choose(input.as_ref().map(|input| &*input.agent))?;
        let log = self.new_log(job.into_job(), own.session().end, Vec::new());
        let log = Arc::new(log);
        let mut commit = Commit::new().with_run(RunChange::new(&*run.id, RunStatus::Cancelled));
        let Work::Agent(agent) = &entry.work else {
            commit.approvals = self.withdrawals(&log).await?;
            let place = run.outcome.clone().map(serde_json::from_value::<FlowPlace>);
            let place = place.and_then(Result::ok).unwrap_or_default();
            return Ok(self.cancel_waiting_flow(&log, &place, commit, Vec::new()).await?);
        };
        let sessions = self.sessions_of(agent, &log);
        let abandon = async {
            let session = sessions.open(&own.session().id, agent.spec.clone()).await?;
            if session.abandon_turn().await? {
                session.save().await?;
            }
            Ok::<(), agcore_agent::AgentError>(())
        };
        abandon.await.map_err(|error| {
            tracing::warn!(?error, "a suspended turn was not abandoned");
            Problem::new(ProblemCode::StoreUnavailable, "the run was not cancelled; try again")
        })?;
        Ok(self.fail_waiting(&log, commit, Vec::new()).await?)
    }
}
