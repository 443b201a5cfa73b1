//! Cancelling runs, and erasing threads.

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{Commit, Run, RunChange, RunFilter, RunStatus};

use super::{
    agents::Work,
    owned::{OwnedRun, OwnedThread},
    start::continuation,
    state::Service,
};
use crate::{
    flows::FlowPlace,
    log::Feed,
    problem::{Problem, ProblemCode},
    run::RunInput,
};

impl Service {
    /// Cancels a run, or the run that continues it under its id. The wish is stored before anything happens, so that it survives
    /// the end of the process. Returns the run that was cancelled: it ends soon. A run that is over stays as it is.
    ///
    /// # Errors
    /// `not_found` if there is no such run, and errors of the store.
    pub(crate) async fn cancel(self: &Arc<Self>, actor: &Actor, thread: &str, run: &str) -> Result<Run, Problem> {
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, thread).await?;
        let own = self.own(actor, thread).await?;
        let (mut job, mut found) = own.run(run).await?;
        if found.status.is_over() {
            match continuation::open_under(&own, run).await? {
                Some(newest) => (job, found) = newest,
                None => return Ok(found),
            }
        }
        if found.status != RunStatus::Interrupted {
            self.request_cancel(&job).await?;
            // It may wait for a person now, without having learnt of the request.
            found = own.run(&found.id).await?.1;
        }
        if found.status == RunStatus::Interrupted {
            self.abandon(&own, job, &found).await?;
        }
        // A message may wait for the answer, or may be what was cancelled.
        self.end_delays(&actor.tenant, thread).await;
        Ok(own.run(&found.id).await?.1)
    }

    /// Erases a thread with its parts and everything that belongs to it, except for its bill.
    ///
    /// # Errors
    /// `not_found` if there is no such thread, `session_busy` if one of its runs is active, and errors of the store.
    pub(crate) async fn erase(&self, actor: &Actor, thread: &str) -> Result<(), Problem> {
        let lock = self.admission.of(actor, thread);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(actor, thread).await?;
        let own = self.own(actor, thread).await?;
        let open = own.runs(&RunFilter::new().open()).await?;
        if open.iter().any(|run| run.status.is_workable()) {
            let detail = "a run is active on this thread; cancel it, and delete the thread when the run has ended";
            return Err(Problem::new(ProblemCode::SessionBusy, detail));
        }
        Ok(own.erase().await?)
    }

    /// Gives up what waits for a person. Its calls are not run, and its questions are withdrawn.
    async fn abandon(&self, own: &OwnedThread<'_>, job: OwnedRun, run: &Run) -> Result<(), Problem> {
        let input = RunInput::of(run);
        let entry = self.agents.choose(input.as_ref().map(|input| &*input.agent))?;
        let feed = Arc::new(Feed::here(Vec::new()));
        let log = Arc::new(self.new_log(job.into_job(), own.session().end, feed, None));
        let (tenant, thread) = log.job.session();
        log.set_hold(Some(Arc::new(self.hold_of_session(tenant, thread).await?)));
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
