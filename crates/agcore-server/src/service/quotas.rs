//! The quotas of tenants and users: their access to them, and the check of each start.

mod administration;
mod allowance;

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{AllowanceKey, QuotaUsage},
};

pub(super) use self::allowance::RunAllowance;
use super::state::Service;
use crate::{
    log::RunLog,
    problem::{Problem, ProblemCode},
    run::RunInput,
};

impl Service {
    /// Returns the quotas that apply to an actor, with the amounts that are used; none if the server has no quotas.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn own_quotas(&self, actor: &Actor) -> Result<Vec<QuotaUsage>, Problem> {
        match &self.quotas {
            Some(quotas) => {
                let usage = quotas.store.quota_usage(actor, &quotas.defaults).await;
                usage.map_err(problem_of)
            }
            None => Ok(Vec::new()),
        }
    }

    /// Counts a run that is about to be started. Answers to the questions of a run count with that run.
    ///
    /// # Errors
    /// `quota_exceeded` if a quota is used up, and errors of the store.
    pub(super) async fn count_run(&self, actor: &Actor, input: &RunInput) -> Result<(), Problem> {
        let Some(quotas) = self.quotas.as_ref().filter(|_| !input.is_continuation()) else {
            return Ok(());
        };
        let counted = quotas.store.count_run(actor, &quotas.defaults).await;
        counted.map_err(problem_of)?.map_err(|shortage| {
            let millis = shortage.resets_in.as_millis();
            let seconds = u64::try_from(millis.div_ceil(1000)).unwrap_or(u64::MAX);
            Problem::new(ProblemCode::QuotaExceeded, shortage.to_string()).with_retry_after(seconds)
        })
    }

    /// Takes back a run that was counted, because it was not started.
    pub(super) async fn uncount_run(&self, actor: &Actor, input: &RunInput) {
        let Some(quotas) = self.quotas.as_ref().filter(|_| !input.is_continuation()) else {
            return;
        };
        if let Err(error) = quotas.store.uncount_run(actor).await {
            tracing::warn!(
                ?error,
                "a run that was not started is counted in the quotas of its user"
            );
        }
    }

    /// Opens the allowance of a run, unless it has one that it can use.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn open_allowance(
        &self,
        log: &RunLog,
        allowance: &mut Option<RunAllowance>,
    ) -> Result<(), SessionError> {
        let Some(quotas) = &self.quotas else { return Ok(()) };
        if allowance.as_ref().is_some_and(|known| !known.is_lost()) {
            return Ok(());
        }
        let job = &log.job;
        let key = AllowanceKey::new(job.actor.clone(), &*job.thread, &*job.run);
        let opened = quotas.store.open_allowance(&key, &quotas.defaults).await?;
        let new = RunAllowance::new(Arc::clone(&quotas.store), opened, Arc::clone(&self.clock), log.lease());
        log.set_budget(new.budget());
        *allowance = Some(new);
        Ok(())
    }

    /// Reports everything that a run has used while this process worked on it.
    pub(super) async fn close_allowance(&self, allowance: RunAllowance) {
        allowance.close(&self.tasks, &self.parking).await;
    }
}

/// Returns the problem of a request with the quotas.
fn problem_of(error: SessionError) -> Problem {
    match error.kind() {
        // Of the operator, not of the client.
        SessionErrorKind::InvalidInput => {
            tracing::error!(?error, "the quotas of a tenant cannot be used");
            let detail = "the quotas of the tenant cannot be used; the log of the server has the reason";
            Problem::new(ProblemCode::Internal, detail)
        }
        _ => error.into(),
    }
}
