//! Messages that arrive while an earlier run of the thread waits for a person.
//!
//! The question is never withdrawn silently: the [policy](BusyPolicy) decides whether the message is refused, waits for the answer,
//! or withdraws the question, whose run is then cancelled. A client that sends the whole conversation with its message withdraws
//! the question, too: its conversation has continued without the answer.

use agcore_session::{Run, RunChange, RunFilter, RunStatus, SessionError};

use crate::{
    log::RunLog,
    problem::{Problem, ProblemCode},
    run::RunInput,
    service::state::Service,
    settings::BusyPolicy,
};

impl Service {
    /// Returns the treatment of a run with this input if its thread is busy.
    pub(in crate::service) fn busy_of(&self, input: &RunInput) -> BusyPolicy {
        input.busy.unwrap_or(self.busy)
    }

    /// Returns whether a run with this input withdraws the questions of earlier ones.
    fn withdraws(&self, input: &RunInput) -> bool {
        let replaces = input.history.is_some() || self.busy_of(input) == BusyPolicy::Interrupt;
        replaces && !input.is_continuation()
    }

    /// Checks that a run with this input may be added to the open runs of its thread.
    ///
    /// # Errors
    /// `session_busy` if the policy refuses it.
    pub(in crate::service) fn check_busy(&self, input: &RunInput, open: &[Run]) -> Result<(), Problem> {
        if self.busy_of(input) != BusyPolicy::Refuse {
            return Ok(());
        }
        if open.iter().any(|run| is_in_the_way(run, input)) {
            let detail = "another run is active on this thread; wait for its end, or cancel it";
            return Err(Problem::new(ProblemCode::SessionBusy, detail));
        }
        let asking = open.iter().any(|run| run.status == RunStatus::Interrupted);
        if asking && !input.is_continuation() && !self.withdraws(input) {
            let detail = "a run of this thread waits for the answer to a question; answer it, or cancel the run";
            return Err(Problem::new(ProblemCode::SessionBusy, detail));
        }
        Ok(())
    }

    /// Returns the changes of runs that wait for a person, when another run is added to their thread.
    pub(in crate::service) fn replaced_runs(&self, input: &RunInput, open: &[Run]) -> Vec<RunChange> {
        let asking = open.iter().filter(|run| run.status == RunStatus::Interrupted);
        let changes = asking.flat_map(|run| match (input.is_continuation(), self.withdraws(input)) {
            (true, _) => continued(&run.id).into(),
            (false, true) => vec![RunChange::new(&*run.id, RunStatus::Cancelled)],
            (false, false) => Vec::new(),
        });
        changes.collect()
    }

    /// Returns whether a run has to wait until a question of its thread is answered, or until the run with the answer has ended.
    ///
    /// # Errors
    /// When the store fails.
    pub(in crate::service) async fn has_to_wait(&self, log: &RunLog, input: &RunInput) -> Result<bool, SessionError> {
        if self.busy_of(input) == BusyPolicy::Interrupt || input.is_continuation() || log.feed.is_cancel_requested() {
            return Ok(false);
        }
        let open = self.open_runs(log).await?;
        let has_started = |run: &Run| run.id == log.job.run && run.status != RunStatus::Queued;
        if open.iter().any(has_started) {
            return Ok(false);
        }
        let waits = !self.withdraws(input);
        let mut others = open.iter().filter(|run| run.id != log.job.run);
        Ok(others.any(|run| (waits && run.status == RunStatus::Interrupted) || is_continuation(run)))
    }

    /// Returns the changes of runs whose questions are withdrawn because another run begins.
    ///
    /// # Errors
    /// When the store fails.
    pub(in crate::service) async fn withdrawn_runs(&self, log: &RunLog) -> Result<Vec<RunChange>, SessionError> {
        let open = self.open_runs(log).await?;
        let asking = open.into_iter().filter(|run| run.status == RunStatus::Interrupted);
        Ok(asking.map(|run| RunChange::new(run.id, RunStatus::Cancelled)).collect())
    }

    /// Returns the changes of runs that a continuation continues although they did not wait yet when it was accepted: another one
    /// was bringing them an earlier answer.
    ///
    /// # Errors
    /// When the store fails.
    pub(in crate::service) async fn continued_runs(&self, log: &RunLog) -> Result<Vec<RunChange>, SessionError> {
        let open = self.open_runs(log).await?;
        let asking = open.into_iter().filter(|run| run.status == RunStatus::Interrupted);
        Ok(asking.flat_map(|run| continued(&run.id)).collect())
    }

    async fn open_runs(&self, log: &RunLog) -> Result<Vec<Run>, SessionError> {
        let (tenant, thread) = log.job.session();
        self.store().runs(tenant, thread, &RunFilter::new().open()).await
    }
}

/// Returns the changes of a run that waited and is continued by another one.
fn continued(run: &str) -> [RunChange; 2] {
    [RunStatus::Running, RunStatus::Completed].map(|status| RunChange::new(run, status))
}

/// Returns whether an open run keeps a new one from its thread. A message that waits for an answer does not keep the answer away.
fn is_in_the_way(run: &Run, new: &RunInput) -> bool {
    match run.status {
        RunStatus::Running => true,
        RunStatus::Queued => !new.is_continuation() || is_continuation(run),
        _ => false,
    }
}

fn is_continuation(run: &Run) -> bool {
    let input = RunInput::of(run);
    input.is_some_and(|input| input.is_continuation())
}
