//! [`Shared`]: the state that all clones of a session share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use agcore_chat::{Actor, ToolExecutor, text::nearest_names};
use agcore_cycle::{LlmCycle, OutcomeRecorder, TurnInput, TurnOptions};
use agcore_tools::{ExecutorBuilder, RunState, ToolContext, ToolRegistry, ToolSession, ToolSnapshot};
use tokio_util::sync::CancellationToken;

use crate::{
    agent::Agent, agent_settings::AgentPart, bundle::RuntimeBundle, durable::SessionRecorder, error::AgentError,
    prompt_layers::system_prompt, queue::TurnQueue,
};

pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) bundle: RuntimeBundle,
    /// The agent that answers the next turn.
    pub(crate) agent: Mutex<Arc<dyn Agent>>,
    pub(crate) tools: ToolSession,
    /// For whom the session acts.
    pub(crate) actor: Mutex<Arc<Actor>>,
    /// When the session was created, by the wall clock: a session ages even while it is only stored.
    pub(crate) created: SystemTime,
    pub(crate) conversation: TurnQueue<Conversation>,
    /// Writes the turns of a stored session.
    pub(crate) recorder: Option<Arc<SessionRecorder>>,
}

/// The part of a session that one turn uses at a time.
pub(crate) struct Conversation {
    pub(crate) cycle: LlmCycle,
    /// The agent of the newest turn, which continues it even after another agent was set for the next turn.
    pub(crate) agent: Arc<dyn Agent>,
    /// The values that the steps of an open turn share; kept while it is suspended.
    pub(crate) run_state: Option<RunState>,
}

impl Shared {
    pub(crate) fn actor(&self) -> Arc<Actor> {
        Arc::clone(&self.actor.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn agent(&self) -> Arc<dyn Agent> {
        Arc::clone(&self.agent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns how long ago the session was created.
    fn age(&self) -> Duration {
        let now = self.bundle.parts().clock.now();
        now.duration_since(self.created).unwrap_or_default()
    }

    /// Checks that the session may have another turn.
    pub(crate) fn check_limits(&self, input: &TurnInput, cycle: &LlmCycle) -> Result<(), AgentError> {
        let config = self.bundle.config();
        if let Some(ttl) = config.session_ttl.filter(|ttl| self.age() >= *ttl) {
            let message = format!(
                "the session is older than session_ttl ({} s); start a new one",
                ttl.as_secs()
            );
            return Err(AgentError::limit(message));
        }
        let starts = matches!(input, TurnInput::Begin(_));
        if let Some(most) = config
            .max_turns
            .filter(|most| starts && cycle.machine().turns() >= *most)
        {
            let message =
                format!("the session has used all {most} turns of max_turns; start a new session, or raise the limit");
            return Err(AgentError::limit(message));
        }
        Ok(())
    }

    /// Applies what depends on the agent and the date.
    pub(crate) fn apply(&self, agent: &dyn Agent, cycle: &mut LlmCycle) {
        let parts = self.bundle.parts();
        let part = AgentPart {
            name: agent.name(),
            prompt: system_prompt(&parts.config, agent, parts.clock.now()),
            request: agent.request(),
        };
        if !part.is_in(cycle.settings()) {
            cycle.set_settings(parts.settings.with(part));
        }
    }

    /// Returns the options of a turn.
    pub(crate) fn options(
        &self,
        conversation: &mut Conversation,
        token: &CancellationToken,
    ) -> Result<TurnOptions, AgentError> {
        let tools = self.executor(conversation, token)?;
        let mut options = TurnOptions::cancelled_by(token.clone())
            .with_tools(tools)
            .with_actor(self.actor())
            .with_trace(Arc::clone(&self.id));
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
        token: &CancellationToken,
    ) -> Result<Arc<dyn ToolExecutor>, AgentError> {
        let parts = self.bundle.parts();
        let context = ToolContext::builder(Arc::clone(&parts.clock))
            .with_session_id(&*self.id)
            .with_trace_id(&*self.id)
            .with_actor(self.actor())
            .with_cancellation(token.clone())
            .with_run_state(conversation.run_state.get_or_insert_default().clone())
            .with_extensions(parts.extensions.clone())
            .build();
        let tools = visible_tools(&parts.tools, &*conversation.agent)?;
        let mut builder = ExecutorBuilder::new(tools, context)
            .with_policy(parts.policy.clone())
            .with_session(self.tools.clone())
            .with_max_result_bytes(parts.config.limits.max_tool_result_bytes);
        if let Some(sink) = &parts.audit {
            builder = builder.with_audit(Arc::clone(sink));
        }
        Ok(Arc::new(parts.config.tools.apply(builder).build()?))
    }
}

/// Returns the tools that an agent sees.
///
/// # Errors
/// When the agent names a tool that is not registered.
pub(crate) fn visible_tools(tools: &ToolRegistry, agent: &dyn Agent) -> Result<Arc<ToolSnapshot>, AgentError> {
    let known = tools.snapshot();
    if let Some(names) = agent.tool_names()
        && let Some(missing) = names.iter().find(|name| known.get(name).is_none())
    {
        return Err(unknown_tool(agent.name(), missing, &known));
    }
    Ok(known.subset(|tool| agent.exposes(tool)))
}

fn unknown_tool(agent: &str, missing: &str, known: &ToolSnapshot) -> AgentError {
    let names = known.tools().iter().map(|tool| &**tool.name());
    let near = nearest_names(missing, names, 3);
    let hint = match near.as_slice() {
        [] => "register it, or remove it from the agent's tools".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    let problem = format!("the agent `{agent}` uses the tool `{missing}`, which is not registered; {hint}");
    AgentError::invalid_agent(problem)
}
