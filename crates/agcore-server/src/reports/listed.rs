//! [`RunReport`]: a run in a list over all threads, with what it has used.

use std::sync::Arc;

use agcore_agui::EventType;
use agcore_chat::Actor;
#[cfg(feature = "console")]
use agcore_session::SessionError;
use agcore_session::{
    CostEntry, CostTotals, ListedRun, Run, RunCursor, RunListFilter, RunStatus, StoredEvent, StoredMessage,
};
use serde_json::Value;

use crate::{
    log::{LogEvent, LogItem},
    problem::Problem,
    service::{OwnedThread, Service},
};

/// The number of the last events among which the end of a run is looked for.
const LAST: u64 = 3;

/// The member of the input of a run that names its agent.
const AGENT_OF_INPUT: &str = "agent";

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
    /// Returns a page of the runs of an actor over all threads, the newest first, and the place at which the next page begins. The
    /// number of statements does not depend on the length of the page.
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
        let listed = self.listed_runs(&filter.with_label(AGENT_OF_INPUT)).await?;
        let is_full = u64::try_from(listed.len()).is_ok_and(|count| count == limit);
        let last = listed.last().filter(|_| is_full).map(RunCursor::of);
        let is_flow = |run: &ListedRun| {
            let agent = run.label.as_deref().and_then(|agent| self.agents.get(agent));
            agent.is_some_and(crate::service::AgentEntry::is_flow)
        };
        let failed: Vec<&ListedRun> = listed
            .iter()
            .filter(|run| run.run.status == RunStatus::Failed)
            .collect();
        let (bills, ends) = tokio::try_join!(
            self.listed_bills(actor, &listed, is_flow),
            self.listed_ends(actor, &failed, LAST)
        )?;
        let errors = failed
            .iter()
            .zip(ends)
            .map(|(run, end)| (RunCursor::of(run), error_of(end)));
        let errors: Vec<_> = errors.collect();
        let reports = listed.into_iter().zip(bills).map(|(run, calls)| {
            let place = RunCursor::of(&run);
            let error = errors.iter().find(|(failed, _)| *failed == place);
            RunReport::new(run, &calls, error.and_then(|(_, error)| error.clone()))
        });
        Ok((reports.collect(), last))
    }

    /// Returns the report of a run of a thread.
    ///
    /// # Errors
    /// When the store fails.
    #[cfg(feature = "console")]
    pub(crate) async fn run_report(&self, own: &OwnedThread<'_>, run: Run) -> Result<RunReport, SessionError> {
        let is_failed = run.status == RunStatus::Failed;
        let actor = &own.session().owner;
        let (is_flow, listed) = (self.is_of_flow(own), listed(own, run));
        let calls = self
            .listed_bills(actor, std::slice::from_ref(&listed), |_| is_flow)
            .await?;
        let error = match is_failed {
            true => self
                .listed_ends(actor, &[&listed], LAST)
                .await?
                .pop()
                .and_then(error_of),
            false => None,
        };
        Ok(RunReport::new(listed, calls.first().map_or(&[], Vec::as_slice), error))
    }

    /// Returns whether a flow answers a thread.
    pub(crate) fn is_of_flow(&self, own: &OwnedThread<'_>) -> bool {
        let agent = crate::service::agent_of(own.session()).and_then(|agent| self.agents.get(agent));
        agent.is_some_and(crate::service::AgentEntry::is_flow)
    }
}

/// Returns the error with which a run has ended, from its last events.
fn error_of(last: Vec<StoredEvent>) -> Option<(String, String)> {
    let mut newest_first = last.into_iter().map(LogItem::from).rev();
    newest_first.find_map(|item| match item.event {
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
    })
}

/// Returns a run of a thread as a list has it.
fn listed(own: &OwnedThread<'_>, run: Run) -> ListedRun {
    // Only this member: the messages in an input may be large.
    let agent = run.input.as_ref().and_then(|input| input[AGENT_OF_INPUT].as_str());
    let agent = agent.map(str::to_owned);
    ListedRun::new(&*own.session().id, own.session().title.clone(), agent, run)
}

impl RunReport {
    /// Adds up the messages of a run that have a bill.
    pub(crate) fn of_messages(
        own: &OwnedThread<'_>,
        run: Run,
        messages: &[Arc<StoredMessage>],
        error: Option<(String, String)>,
    ) -> Self {
        let calls: Vec<CostEntry> = messages.iter().flat_map(|message| CostEntry::of(message)).collect();
        Self::new(listed(own, run), &calls, error)
    }

    /// Adds up the model calls of a run.
    fn new(listed: ListedRun, calls: &[CostEntry], error: Option<(String, String)>) -> Self {
        let (mut totals, mut models) = (CostTotals::default(), Vec::new());
        for call in calls {
            totals.add(call);
            let model = call.model.to_string();
            if !model.is_empty() && !models.contains(&model) {
                models.push(model);
            }
        }
        Self {
            thread: listed.session,
            title: listed.title,
            agent: listed.label.unwrap_or_default(),
            run: listed.run,
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
