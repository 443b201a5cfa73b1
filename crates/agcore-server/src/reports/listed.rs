//! [`RunReport`]: a run in a list over all threads, with what it has used.

use std::sync::Arc;

use agcore_agui::EventType;
use agcore_chat::Actor;
use agcore_session::{
    CostEntry, CostTotals, EventFilter, ListedRun, Run, RunCursor, RunListFilter, RunStatus, SessionError,
    StoredMessage,
};
use futures_util::future::try_join_all;
use serde_json::Value;

use crate::{
    log::{LogEvent, LogItem},
    problem::Problem,
    service::{OwnedThread, Service},
};

/// The number of the last events among which the end of a run is looked for.
const LAST: u64 = 3;

/// The selection of a list of runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunQuery {
    pub(crate) status: Option<RunStatus>,
    pub(crate) agent: Option<String>,
    pub(crate) after: Option<RunCursor>,
    pub(crate) limit: u64,
}

/// A run with what it has used.
#[derive(Debug, Clone)]
pub(crate) struct RunReport {
    pub(crate) thread: String,
    pub(crate) title: Option<String>,
    pub(crate) agent: String,
    pub(crate) run: Run,
    /// The names of the models that have answered.
    pub(crate) models: Vec<String>,
    pub(crate) totals: CostTotals,
    /// The code of the error with which the run has ended, and its message.
    pub(crate) error: Option<(String, String)>,
}

impl Service {
    /// Returns a page of the runs of an actor over all threads, the newest first, and the place at which the next page begins.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn own_runs(
        &self,
        actor: &Actor,
        query: RunQuery,
    ) -> Result<(Vec<RunReport>, Option<RunCursor>), Problem> {
        let limit = query.limit;
        let mut filter = RunListFilter::owned_by(actor.clone()).with_limit(limit);
        (filter.status, filter.after) = (query.status, query.after);
        if let Some(agent) = query.agent {
            filter = filter.with_metadata(crate::service::AGENT, agent);
        }
        let listed = self.listed_runs(&filter).await?;
        let is_full = u64::try_from(listed.len()).is_ok_and(|count| count == limit);
        let last = listed.last().filter(|_| is_full).map(RunCursor::of);
        let reports = listed.into_iter().map(|listed| self.listed_report(actor, listed));
        let reports = try_join_all(reports).await?;
        Ok((reports.into_iter().flatten().collect(), last))
    }

    /// Returns the report of a run in a list, unless its thread was erased in the meantime.
    async fn listed_report(&self, actor: &Actor, listed: ListedRun) -> Result<Option<RunReport>, Problem> {
        match self.own(actor, &listed.session).await {
            Ok(own) => Ok(Some(self.run_report(&own, listed.run).await?)),
            Err(problem) if problem.is_unknown() => Ok(None),
            Err(problem) => Err(problem),
        }
    }

    /// Returns the report of a run of a thread.
    ///
    /// # Errors
    /// When the store fails.
    pub(crate) async fn run_report(&self, own: &OwnedThread<'_>, run: Run) -> Result<RunReport, SessionError> {
        let messages = own.billed_messages(&run.id, self.is_of_flow(own)).await?;
        let error = match run.status {
            RunStatus::Failed => self.error_of(own, &run.id).await?,
            _ => None,
        };
        Ok(RunReport::new(own, run, &messages, error))
    }

    /// Returns whether a flow answers a thread.
    pub(super) fn is_of_flow(&self, own: &OwnedThread<'_>) -> bool {
        let agent = crate::service::agent_of(own.session()).and_then(|agent| self.agents.get(agent));
        agent.is_some_and(crate::service::AgentEntry::is_flow)
    }

    /// Returns the error with which a run has ended.
    async fn error_of(&self, own: &OwnedThread<'_>, run: &str) -> Result<Option<(String, String)>, SessionError> {
        let Some((run, _)) = own.find_run(run).await? else {
            return Ok(None);
        };
        let last = self.events(&run, EventFilter::new().with_last(LAST)).await?;
        Ok(last
            .into_iter()
            .map(LogItem::from)
            .rev()
            .find_map(|item| match item.event {
                LogEvent::Agui(event) if event.event_type() == EventType::RunError => {
                    let text = |name: &str| {
                        event
                            .member(name)
                            .and_then(Value::as_str)
                            .unwrap_or_default()
                            .to_owned()
                    };
                    Some((text("code"), text("message")))
                }
                _ => None,
            }))
    }
}

impl RunReport {
    /// Adds up the messages of a run that have a bill.
    pub(crate) fn new(
        own: &OwnedThread<'_>,
        run: Run,
        messages: &[Arc<StoredMessage>],
        error: Option<(String, String)>,
    ) -> Self {
        // Only this member: the messages in an input may be large.
        let agent = run
            .input
            .as_ref()
            .and_then(|input| input["agent"].as_str())
            .map(str::to_owned);
        let (mut totals, mut models) = (CostTotals::default(), Vec::new());
        for entry in messages.iter().flat_map(|message| CostEntry::of(message)) {
            totals.add(&entry);
            let model = entry.model.to_string();
            if !model.is_empty() && !models.contains(&model) {
                models.push(model);
            }
        }
        Self {
            thread: own.session().id.clone(),
            title: own.session().title.clone(),
            agent: agent.unwrap_or_default(),
            run,
            models,
            totals,
            error,
        }
    }

    /// Returns the time from the acceptance of the run to its end, in milliseconds, if it is over.
    pub(crate) fn duration_ms(&self) -> Option<u64> {
        let millis = self.run.updated_at.as_millis() - self.run.created_at.as_millis();
        let is_over = self.run.status.is_over();
        is_over.then(|| u64::try_from(millis).unwrap_or(0))
    }
}
