//! Starting runs.

mod questions;
pub(super) mod request;
mod edits;
mod answers;
mod branch;
mod results;
mod state;
mod previous;
pub(super) mod continuation;
mod refusals;
pub(super) mod deliveries;

pub(crate) use self::{
    answers::GivenAnswers,
    branch::BranchPoint,
    state::{NewState, check_state},
};

use std::{borrow::Cow, sync::Arc};

use agcore_agent::{AgentError, LocalState};
use agcore_chat::Actor;
use agcore_session::{
    Commit, DocumentChange, NewSession, Run, RunChange, RunFilter, RunStatus, Session, SessionErrorKind, id,
};
use serde_json::Value;

use super::{
    agents::{AgentEntry, ServedAgent, Work},
    owned::{OwnedRun, OwnedThread},
    state::{Service, check_id},
};
use crate::{
    flows::{FlowInput, FlowValues},
    log::{Feed, LogInput, RunLog},
    problem::{Problem, ProblemCode},
    run::{RunInput, RunJob, RunTrace},
    settings::BusyPolicy,
};

/// A run that a client wants to start.
pub(crate) struct NewRun {
    pub(crate) actor: Actor,
    pub(crate) thread: String,
    pub(crate) run: String,
    /// The agent, if the client has chosen one.
    pub(crate) agent: Option<String>,
    pub(crate) input: RunInput,
    /// The state that the client has sent.
    pub(crate) state: Option<NewState>,
    /// The values for a flow.
    pub(crate) values: FlowValues,
}

/// The longest beginning of the ids of sessions in which the agents of a flow work, in bytes.
const MAX_PREFIX: usize = 640;

/// The metadata of a session with the name of its agent.
pub(crate) const AGENT: &str = "agent";

impl Service {
    /// Starts a run, or finds it if it was started before: the same id with the same input is the same run.
    ///
    /// # Errors
    /// When the run cannot be started. Nothing was stored then, except perhaps a new session without messages.
    pub(crate) async fn start(&self, new: NewRun) -> Result<OwnedRun, Problem> {
        check_id("thread", &new.thread)?;
        check_id("run", &new.run)?;
        if let Some(parent) = &new.input.parent {
            check_id("parent run", parent)?;
        }
        let lock = self.admission.of(&new.actor, &new.thread);
        let _guard = lock.lock().await;
        let _hold = self.admission_to(&new.actor, &new.thread).await?;
        if self.hooks.reserve(&new.thread) && self.find_own(&new.actor, &new.thread).await?.is_none() {
            return Err(Problem::invalid(
                "threads with this id are started by deliveries to a hook; choose another id",
            ));
        }
        self.start_locked(new).await
    }

    /// Starts a run while no other request changes the runs of the session.
    pub(super) async fn start_locked(&self, mut new: NewRun) -> Result<OwnedRun, Problem> {
        // Before anything else is checked: what belongs to others must not show in any answer.
        let own = self.find_own(&new.actor, &new.thread).await?;
        let session = own.as_ref().map(OwnedThread::session);
        let named = new.agent.as_deref().or_else(|| session.and_then(agent_of));
        let entry = self.agents.choose(named)?;
        self.check_kind(entry, session)?;
        new.input.agent.clone_from(&entry.name);
        new.input.trace = RunTrace::current();
        let busy = *new.input.busy.get_or_insert(self.busy);
        new.input.has_state = new.state.is_some() || own.as_ref().is_some_and(OwnedThread::has_state);
        check_fit(entry, &new)?;
        if let (Work::Flow(flow), None, Some(message)) = (&entry.work, &new.input.flow, &new.input.message) {
            check_stage_ids(&new.thread, &new.run)?;
            let text = message.own_text().into_owned();
            new.input.flow = Some(FlowInput::new(flow.file(), text, &new.values)?);
        }
        let mut open = Vec::new();
        if let Some(own) = &own {
            if let Some((run, known)) = own.find_run(&new.run).await? {
                return same_run(&known, &new.input).map(|()| run);
            }
            // Not all runs: a thread may have thousands.
            open = own.runs(&RunFilter::new().open()).await?;
            previous::check_newest(own, &new.input).await?;
        }
        self.admit(&new, &open)?;
        self.check_is_free(&new.actor.tenant, &new.thread).await?;
        let document = self.document_of(own.as_ref(), new.state.take()).await?;
        let run = self.store_new(&new, own, (&open, document)).await?;
        if busy == BusyPolicy::Interrupt && !new.input.is_continuation() {
            // After the run was accepted: otherwise, the user could lose both.
            self.cancel_active(&new, &open).await?;
        }
        self.leasing.offer();
        Ok(run)
    }

    /// Checks that a thread is continued by the kind that has started it: agents and flows keep the conversation in different ways.
    fn check_kind(&self, entry: &AgentEntry, session: Option<&Session>) -> Result<(), Problem> {
        let Some(session) = session else { return Ok(()) };
        let starter = agent_of(session).and_then(|name| self.agents.get(name));
        let is_flow = match starter {
            Some(starter) => starter.is_flow(),
            None if session.end > 0 => false,
            None => return Ok(()),
        };
        if is_flow == entry.is_flow() {
            return Ok(());
        }
        let (starter, wanted) = if is_flow {
            ("a flow", "an agent")
        } else {
            ("an agent", "a flow")
        };
        let detail = format!("the thread was started by {starter}, which {wanted} cannot continue; use a new thread");
        Err(Problem::new(ProblemCode::AgentMismatch, detail))
    }

    /// Checks that another run may start on the thread.
    fn admit(&self, new: &NewRun, open: &[Run]) -> Result<(), Problem> {
        if self.stopping.is_cancelled() {
            return Err(Problem::new(
                ProblemCode::ShuttingDown,
                "the server is shutting down; try again soon",
            ));
        }
        self.check_busy(&new.input, open)?;
        Ok(())
    }

    /// Cancels the runs of the thread that wait or run.
    async fn cancel_active(&self, new: &NewRun, open: &[Run]) -> Result<(), Problem> {
        for run in open.iter().filter(|run| run.status.is_workable()) {
            let job = RunJob::new(new.actor.clone(), &*new.thread, &*run.id);
            self.request_cancel(&job).await?;
        }
        Ok(())
    }

    async fn create(&self, new: &NewRun) -> Result<OwnedThread<'_>, Problem> {
        let mut session = NewSession::new(&*new.thread).with_metadata(AGENT, &*new.input.agent);
        session.billing = self.new_billing(&new.actor).await?;
        let created = self.create_own(&new.actor, session).await;
        created.map_err(|error| match error.kind() {
            // Another user of the tenant was faster.
            SessionErrorKind::AlreadyExists => Problem::unknown("thread"),
            _ => error.into(),
        })
    }

    /// Stores a new run, with its thread if there is none yet, and counts it for the quotas.
    async fn store_new(
        &self,
        new: &NewRun,
        own: Option<OwnedThread<'_>>,
        (open, document): (&[Run], Option<DocumentChange>),
    ) -> Result<OwnedRun, Problem> {
        self.count_run(&new.actor, &new.input).await?;
        let is_new = own.is_none();
        let own = match own {
            Some(own) => Ok(own),
            None => self.create(new).await,
        };
        let own = match own {
            Ok(own) => own,
            Err(problem) => {
                self.uncount_run(&new.actor, &new.input).await;
                return Err(problem);
            }
        };
        let run = own.with_run(&new.run);
        let feed = Arc::new(Feed::here(Vec::new()));
        let log = self.new_log(RunJob::clone(&run), own.session().end, feed, None);
        if let Err(problem) = self.store_run(&log, &new.input, (open, document)).await {
            // After other errors, it is not known whether the run was stored.
            if matches!(
                problem.code(),
                ProblemCode::QueueFull | ProblemCode::TooManyRuns | ProblemCode::StateChanged
            ) {
                self.uncount_run(&new.actor, &new.input).await;
                if is_new {
                    own.remove_empty().await;
                }
            }
            return Err(problem);
        }
        Ok(run)
    }

    /// Stores the run, and ends those that wait for a person if it continues or replaces them.
    async fn store_run(
        &self,
        log: &RunLog,
        input: &RunInput,
        (open, document): (&[Run], Option<DocumentChange>),
    ) -> Result<(), Problem> {
        let mut changes = self.replaced_runs(input, open);
        let replaces = self.busy_of(input) == BusyPolicy::Interrupt && !input.is_continuation();
        let parent = input.parent.as_deref().map(Into::into);
        let input = serde_json::to_value(input).map_err(|error| Problem::invalid(error.to_string()))?;
        changes.push(RunChange::new(&*log.job.run, RunStatus::Queued).with_input(input));
        let is_replaced = |run: &&Run| replaces && run.status.is_workable();
        let replaced = open.iter().filter(is_replaced).count();
        let mut commit = Commit::new().with_limits(self.limits.of_runs(replaced));
        (commit.runs, commit.document) = (changes, document);
        Ok(log.append_commit(commit, vec![LogInput::Started { parent }]).await?)
    }

    /// Counts the runs that this process executes.
    pub(super) fn count_active(&self) {
        let count = i64::try_from(self.active.len()).unwrap_or(i64::MAX);
        self.metrics.runs_active.set(count);
    }
}

/// Returns the name of the agent of a session.
pub(crate) fn agent_of(session: &Session) -> Option<&str> {
    session.metadata.get(AGENT)?.as_str()
}

/// Checks that an agent or a flow can use what a client has sent.
///
/// # Errors
/// `invalid_request` if it cannot.
fn check_fit(entry: &AgentEntry, new: &NewRun) -> Result<(), Problem> {
    match &entry.work {
        Work::Agent(_) if !new.values.files.is_empty() => Err(Problem::invalid(
            "`forwardedProps.files` is read by flows only; choose a flow, or remove it",
        )),
        Work::Flow(_) if !new.input.tools.is_empty() => Err(Problem::invalid(
            "`tools` are offered to agents only; choose an agent, or remove them",
        )),
        Work::Agent(agent) => match offered(agent, &new.input) {
            Ok(()) => Ok(()),
            Err(error) => {
                let detail = format!("`tools` cannot be offered to the agent {:?}: {error}", entry.name);
                Err(Problem::invalid(detail))
            }
        },
        Work::Flow(_) => Ok(()),
    }
}

/// Checks the tools that an agent has in a run: those of the client, and that for the state.
fn offered(agent: &ServedAgent, input: &RunInput) -> Result<(), AgentError> {
    let agent = match input.has_state {
        true => Cow::Owned(agent.with_state(Arc::new(LocalState::new(Value::Null)), &input.tools)?),
        false => Cow::Borrowed(agent),
    };
    agent.with_client_tools(&input.tools).map(drop)
}

/// Checks that the ids of the sessions in which the agents of a flow work are not too long.
fn check_stage_ids(thread: &str, run: &str) -> Result<(), Problem> {
    match id::prefix([thread, run]).len() <= MAX_PREFIX {
        true => Ok(()),
        false => Err(Problem::invalid(
            "the ids of the thread and the run are too long for a flow; use shorter ones, without special characters",
        )),
    }
}

fn same_run(known: &Run, input: &RunInput) -> Result<(), Problem> {
    let stored = RunInput::of(known);
    // The policies of the server may have changed meanwhile, and the thread may have got a state.
    let stored = stored.map(|stored| RunInput {
        busy: input.busy,
        has_state: input.has_state,
        refuses: input.refuses,
        // Each request has another place in a trace.
        trace: input.trace.clone(),
        ..stored
    });
    if stored.as_ref() == Some(input) {
        return Ok(());
    }
    let detail = "a run with this id and another input exists; choose a new id";
    Err(Problem::new(ProblemCode::RunIdTaken, detail))
}
