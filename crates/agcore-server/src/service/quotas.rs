//! The quotas of tenants and users: their access to them, and the check of each start.

mod administration;
mod allowance;
mod source;

use std::sync::Arc;

use agcore_chat::Actor;
use agcore_session::{
    SessionError, SessionErrorKind,
    quota::{AllowanceKey, QuotaUsage},
};

pub(super) use self::allowance::RunAllowance;
use self::source::QuotaSource;
use super::state::Service;
use crate::{
    log::RunLog,
    problem::{Problem, ProblemCode},
    run::{RunBudget, RunInput},
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

    /// Checks that the budget of a run and the quotas of its user can hold together.
    ///
    /// # Errors
    /// `invalid_request` if they are in different currencies, and errors of the store.
    pub(super) async fn check_budget(&self, actor: &Actor, budget: Option<&RunBudget>) -> Result<(), Problem> {
        let Some(currency) = budget.and_then(RunBudget::currency) else {
            return Ok(());
        };
        let quotas = self.own_quotas(actor).await?;
        let mut others = quotas.iter().filter_map(|usage| usage.quota.currency());
        match others.find(|other| ***other != *currency) {
            None => Ok(()),
            Some(other) => Err(Problem::invalid(format!(
                "`forwardedProps.budget.money` is in {currency}, but your quotas are in {other}; use {other}"
            ))),
        }
    }

    /// Opens the allowance of a run, unless it has one that it can use.
    ///
    /// # Errors
    /// When the store fails.
    pub(super) async fn open_allowance<'a>(
        &self,
        log: &RunLog,
        budget: Option<&RunBudget>,
        allowance: &'a mut Option<RunAllowance>,
    ) -> Result<&'a RunAllowance, SessionError> {
        let is_usable = allowance.as_ref().is_some_and(|known| !known.is_lost());
        if !is_usable {
            let opened = match &self.quotas {
                Some(quotas) => {
                    let job = &log.job;
                    let key = AllowanceKey::new(job.actor.clone(), &*job.thread, &*job.run);
                    let opened = quotas.store.open_allowance(&key, &quotas.defaults).await?;
                    opened.map(|opened| QuotaSource::new(Arc::clone(&quotas.store), opened, &self.clock, log.lease()))
                }
                None => None,
            };
            let new = RunAllowance::new(opened, budget, &self.clock, allowance.as_ref());
            log.set_budget(new.budget());
            *allowance = Some(new);
        }
        Ok(allowance.get_or_insert_default())
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
