//! [`Shared`]: the state that all clones of a session share.

mod hold;
mod limits;

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::SystemTime,
};

use agcore_chat::{
    Actor, AgentEvent, ContentPart, Marks, Message, Origin, StreamEvent, ToolExecutor, text::nearest_names,
};
use agcore_cycle::{
    BudgetPool, LlmCycle, Observer, OutcomeRecorder, PauseFlag, TurnOptions,
    machine::{Begin, Step},
};
use agcore_tools::{ExecutorBuilder, RunState, ToolContext, ToolSession, ToolSnapshot};
use tokio_util::sync::CancellationToken;

use crate::{
    agent::Agent,
    agent_settings::AgentPart,
    bundle::{Parts, RuntimeBundle},
    durable::SessionLog,
    error::AgentError,
    handoff_state::HandoffState,
    known_tools::unknown_tool,
    members::{CATEGORY, handoff_target},
    prompt_layers::system_prompt,
    queue::TurnQueue,
    session_memory::SessionMemory,
    tape::TapeExecutor,
    turn_scope::{Lineage, TurnScope},
};

pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) bundle: RuntimeBundle,
    pub(crate) agent: Mutex<CurrentAgent>,
    /// The place of the session among agents that ask others.
    pub(crate) lineage: Lineage,
    pub(crate) tools: ToolSession,
    /// The session whose memory this one uses, if it is not its own.
    pub(crate) memory_id: OnceLock<Arc<str>>,
    /// For whom the session acts.
    pub(crate) actor: Mutex<Arc<Actor>>,
    /// When the session was created, by the wall clock: a session ages even while it is only stored.
    pub(crate) created: SystemTime,
    pub(crate) conversation: TurnQueue<Conversation>,
    /// Writes the turns of a stored session.
    pub(crate) recorder: Option<Arc<dyn SessionLog>>,
}

/// The agent that answers the next turn.
pub(crate) struct CurrentAgent {
    pub(crate) agent: Arc<dyn Agent>,
    /// Its name, if the conversation was handed over to it.
    pub(crate) handed_to: Option<String>,
    /// A note for the model that the agent has changed, which the next user message contains.
    pub(crate) note: Option<String>,
}

/// A run of a turn.
pub(crate) struct Run<'a> {
    pub(crate) token: &'a CancellationToken,
    pub(crate) observer: Option<&'a Observer>,
    /// Whether the observer also receives the events of sub-agents.
    pub(crate) shows_sub_agents: bool,
    /// Whether a new turn starts.
    pub(crate) starts: bool,
}

/// The part of a session that one turn uses at a time.
pub(crate) struct Conversation {
    pub(crate) cycle: LlmCycle,
    /// The agent of the newest turn, which continues it even after another agent was set for the next turn.
    pub(crate) agent: Arc<dyn Agent>,
    /// The values that the steps of an open turn share; kept while it is suspended.
    pub(crate) run_state: Option<RunState>,
    /// The budget that the sub-agents of the open turn share, if there is one.
    pub(crate) team: Option<BudgetPool>,
    /// The snapshot of the session memory that was added last.
    pub(crate) shown_memory: Option<String>,
}

impl Shared {
    pub(crate) fn actor(&self) -> Arc<Actor> {
        Arc::clone(&self.actor.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn agent(&self) -> Arc<dyn Agent> {
        Arc::clone(&self.current().agent)
    }

    /// Returns the name of the agent to which the conversation was handed over.
    pub(crate) fn handed_to(&self) -> Option<String> {
        self.current().handed_to.clone()
    }

    /// Sets the agent that answers from the next turn on.
    pub(crate) fn switch_agent(&self, agent: Arc<dyn Agent>) {
        let mut current = self.current();
        let note = format!(
            "[From here on, the agent `{}` answers. The earlier answers are those of `{}`.]\n\n",
            agent.name(),
            current.agent.name()
        );
        if let Some(recorder) = self.recorder.as_ref().filter(|_| current.handed_to.is_some()) {
            recorder.set_agent(None);
        }
        *current = CurrentAgent {
            note: (agent.name() != current.agent.name()).then_some(note),
            agent,
            handed_to: None,
        };
    }

    /// Prepares for a new turn.
    pub(crate) fn begin(&self, conversation: &mut Conversation, begin: &mut Begin, memory: Option<String>) {
        let mut current = self.current();
        conversation.agent = Arc::clone(&current.agent);
        conversation.run_state = None;
        conversation.team = None;
        self.tools.begin_turn();
        if let Some(note) = current.note.take() {
            add_part(begin, note, Origin::Handoff);
        }
        if memory != conversation.shown_memory
            && let Some(snapshot) = memory
        {
            add_part(begin, format!("{snapshot}\n\n"), Origin::Context);
            conversation.shown_memory = Some(snapshot);
        }
    }

    /// Returns the memory of the session, if the bundle has a store for it.
    pub(crate) fn memory(&self) -> Option<SessionMemory> {
        let store = self.bundle.parts().session_memory.clone()?;
        let id = self.memory_id.get().unwrap_or(&self.id);
        Some(SessionMemory::new(store, self.actor(), id))
    }

    /// Returns the values in the memory of the session, for the model.
    pub(crate) async fn snapshot(&self) -> Result<Option<String>, AgentError> {
        match self.memory() {
            Some(memory) => Ok(memory.snapshot().await?),
            None => Ok(None),
        }
    }

    /// Carries out the handoff that was requested in the turn.
    pub(crate) fn hand_over(&self, conversation: &mut Conversation, run: &Run<'_>) -> Result<(), AgentError> {
        let from = conversation.agent.name().to_owned();
        let run_state = conversation.run_state.get_or_insert_default();
        let Some(to) = HandoffState::complete(run_state, &from) else {
            return Ok(());
        };
        let agent = self
            .bundle
            .member(&to)
            .ok_or_else(|| unknown_member(&from, &to, self.bundle.parts()))?;
        conversation.agent = Arc::clone(&agent);
        if let Some(observer) = run.observer {
            let event = AgentEvent::Handoff {
                from: from.into(),
                to: to.as_str().into(),
            };
            let machine = conversation.cycle.machine();
            let (turn, round) = (machine.turn_index(), machine.round());
            observer.send(StreamEvent::new(0, Arc::from(to.as_str()), turn, round, event));
        }
        if let Some(recorder) = &self.recorder {
            recorder.set_agent(Some(&to));
        }
        *self.current() = CurrentAgent {
            agent,
            handed_to: Some(to),
            note: None,
        };
        Ok(())
    }

    /// Continues an open turn with the agent that has it. Returns whether a handoff is due at once.
    pub(crate) fn reopen(&self, conversation: &mut Conversation) -> bool {
        let Some(run_state) = &conversation.run_state else {
            return false;
        };
        let state = HandoffState::of(run_state);
        if let Some(agent) = state.agent.as_deref().and_then(|name| self.bundle.member(name)) {
            conversation.agent = agent;
        }
        state.target().is_some() && matches!(conversation.cycle.machine().next(), Step::Call(_))
    }

    fn current(&self) -> MutexGuard<'_, CurrentAgent> {
        self.agent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Applies what depends on the agent and the date.
    pub(crate) fn apply(&self, agent: &dyn Agent, cycle: &mut LlmCycle) {
        let parts = self.bundle.parts();
        let part = AgentPart {
            name: agent.name(),
            prompt: system_prompt(&parts.config, agent, &parts.skills, parts.clock.now()),
            request: agent.request(),
        };
        if !part.is_in(cycle.settings()) {
            cycle.set_settings(parts.settings.with(part));
        }
    }

    /// Returns the options of a turn.
    pub(crate) fn options(&self, conversation: &mut Conversation, run: &Run<'_>) -> Result<TurnOptions, AgentError> {
        let parts = self.bundle.parts();
        let tools = visible_tools(parts, &*conversation.agent)?;
        let pause = runs_agents(&tools).then(PauseFlag::new);
        let tools = self.executor(conversation, run, tools, pause.as_ref())?;
        let mut options = TurnOptions::cancelled_by(run.token.clone())
            .with_tools(tools)
            .with_actor(self.actor())
            .with_trace(Arc::clone(&self.id));
        options.pause = pause;
        if let Some(recorder) = &self.recorder {
            let run_state = conversation.run_state.get_or_insert_default();
            recorder.prepare(&mut conversation.cycle, run_state);
            options.recorder = Some(Arc::clone(recorder) as Arc<dyn OutcomeRecorder>);
        }
        Ok(options)
    }

    /// Builds the executor of the tools that the agent exposes, as of this turn.
    fn executor(
        &self,
        conversation: &mut Conversation,
        run: &Run<'_>,
        tools: Arc<ToolSnapshot>,
        pause: Option<&PauseFlag>,
    ) -> Result<Arc<dyn ToolExecutor>, AgentError> {
        let parts = self.bundle.parts();
        let run_state = conversation.run_state.get_or_insert_default().clone();
        let mut context = ToolContext::builder(Arc::clone(&parts.clock))
            .with_session_id(&*self.id)
            .with_trace_id(&*self.id)
            .with_actor(self.actor())
            .with_cancellation(run.token.clone())
            .with_run_state(run_state.clone())
            .with_extensions(parts.extensions.clone());
        if let Some(pause) = pause {
            if HandoffState::of(&run_state).target().is_some() {
                // Requested before the process died.
                pause.request();
            }
            context = context.with_state(self.scope(conversation, run, pause.clone()));
        }
        let handoffs = parts.tape.is_some().then(|| handoff_tools(&tools));
        let mut builder = ExecutorBuilder::new(tools, context.build())
            .with_policy(parts.policy.clone())
            .with_session(self.tools.clone())
            .with_max_result_bytes(parts.config.limits.max_tool_result_bytes);
        if let Some(sink) = &parts.audit {
            builder = builder.with_audit(Arc::clone(sink));
        }
        let executor = Arc::new(parts.config.tools.apply(builder).build()?);
        Ok(match (&parts.tape, handoffs) {
            (Some(tape), Some(handoffs)) => Arc::new(TapeExecutor::new(Arc::clone(tape), executor, handoffs)),
            _ => executor,
        })
    }

    /// Returns what tools that run other agents know about the turn.
    fn scope(&self, conversation: &Conversation, run: &Run<'_>, pause: PauseFlag) -> TurnScope {
        let mut lineage = self.lineage.clone();
        if lineage.depth == 0 {
            lineage.pool.clone_from(&conversation.team);
            // What a stored session has spent is in its records.
            let is_noted = lineage.pool.is_some() && self.recorder.is_none();
            lineage.ledger = conversation.run_state.clone().filter(|_| is_noted);
        }
        let machine = conversation.cycle.machine();
        TurnScope {
            bundle: self.bundle.clone(),
            agent: conversation.agent.name().to_owned(),
            observer: run.observer.filter(|_| run.shows_sub_agents).cloned(),
            recorder: self.recorder.clone(),
            session: Arc::clone(&self.id),
            memory: self.memory(),
            tools: self.tools.clone(),
            actor: self.actor(),
            turn: if run.starts {
                machine.turns()
            } else {
                machine.turn_index()
            },
            lineage,
            pause,
        }
    }
}

/// Returns whether one of the tools runs other agents.
fn runs_agents(tools: &ToolSnapshot) -> bool {
    tools.tools().iter().any(|tool| tool.category() == Some(CATEGORY))
}

/// Returns the names of the tools that hand the conversation over.
fn handoff_tools(tools: &ToolSnapshot) -> HashSet<String> {
    let handoffs = tools.tools().iter().filter(|tool| handoff_target(tool).is_some());
    handoffs.map(|tool| tool.name().to_string()).collect()
}

/// Adds a text, which neither the user nor the model wrote, before the newest user message of a turn.
pub(crate) fn add_part(begin: &mut Begin, text: String, origin: Origin) {
    let mut newest = begin.messages.iter_mut().rev();
    let user = newest.find(|message| matches!(***message, Message::User(_)));
    if let Some(Message::User(user)) = user.map(Arc::make_mut) {
        let mut parts = vec![ContentPart::text(text).with_marks(Marks::new().with_origin(origin))];
        parts.append(&mut std::mem::take(&mut user.content).into_parts());
        user.content = parts.into();
    }
}

/// Returns the tools that an agent sees.
///
/// # Errors
/// When the agent names a tool that is not registered, or an agent that is not a member.
pub(crate) fn visible_tools(parts: &Parts, agent: &dyn Agent) -> Result<Arc<ToolSnapshot>, AgentError> {
    let known = parts.tools.snapshot();
    let targets = agent.handoffs();
    if let Some(missing) = targets.iter().find(|name| parts.members.get(name).is_none()) {
        return Err(unknown_member(agent.name(), missing, parts));
    }
    if let Some(names) = agent.tool_names()
        && let Some(missing) = names.iter().find(|name| known.get(name).is_none())
    {
        return Err(unknown_tool(agent.name(), missing, &known));
    }
    if parts.members.is_empty() {
        return Ok(known.subset(|tool| agent.exposes(tool)));
    }
    Ok(known.subset(|tool| match handoff_target(tool) {
        Some(target) => targets.iter().any(|name| name == target),
        None => agent.exposes(tool),
    }))
}

fn unknown_member(agent: &str, missing: &str, parts: &Parts) -> AgentError {
    let near = nearest_names(missing, parts.members.names(), 3);
    let hint = match near.as_slice() {
        [] => "add it with `with_member` when the bundle is built".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    AgentError::invalid_agent(format!(
        "the agent `{agent}` hands over to `{missing}`, which is not a member of the bundle; {hint}"
    ))
}
