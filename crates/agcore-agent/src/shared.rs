//! [`Shared`]: the state that all clones of a session share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use agcore_chat::{Message, ToolExecutor};
use agcore_cycle::{LlmCycle, TurnInput};
use agcore_tools::{ToolContext, ToolSession};
use tokio_util::sync::CancellationToken;

use crate::{agent::Agent, bundle::RuntimeBundle, error::AgentError, prompt_layers::system_prompt, queue::TurnQueue};

pub(crate) struct Shared {
    pub(crate) id: Arc<str>,
    pub(crate) bundle: RuntimeBundle,
    /// The agent that answers the next turn.
    pub(crate) agent: Mutex<Arc<dyn Agent>>,
    pub(crate) tools: ToolSession,
    /// When the session was created, by the wall clock: a session ages even while it is only stored.
    pub(crate) created: SystemTime,
    pub(crate) conversation: TurnQueue<Conversation>,
}

/// The part of a session that one turn uses at a time.
pub(crate) struct Conversation {
    pub(crate) cycle: LlmCycle,
    /// The agent of the newest turn, which continues it even after another agent was set for the next turn.
    pub(crate) agent: Arc<dyn Agent>,
}

impl Shared {
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
        let prompt = system_prompt(&parts.config, agent, parts.clock.now());
        let settings = cycle.settings_mut();
        settings.agent = agent.name().into();
        settings.request = agent.request();
        settings.prelude = prompt
            .map(|prompt| Arc::new(Message::system(prompt)))
            .into_iter()
            .collect();
    }

    /// Builds the executor of the tools that the agent exposes, as of this turn.
    pub(crate) fn executor(
        &self,
        agent: &Arc<dyn Agent>,
        token: &CancellationToken,
    ) -> Result<Arc<dyn ToolExecutor>, AgentError> {
        let parts = self.bundle.parts();
        let context = ToolContext::builder(Arc::clone(&parts.clock))
            .with_session_id(&*self.id)
            .with_trace_id(&*self.id)
            .with_cancellation(token.clone())
            .with_extensions(parts.extensions.clone())
            .build();
        let chooser = Arc::clone(agent);
        let mut builder = parts
            .tools
            .subset(move |tool| chooser.exposes(tool))
            .executor(context)
            .with_policy(parts.policy.clone())
            .with_session(self.tools.clone())
            .with_max_result_bytes(parts.config.limits.max_tool_result_bytes);
        if let Some(sink) = &parts.audit {
            builder = builder.with_audit(Arc::clone(sink));
        }
        Ok(Arc::new(builder.build()?))
    }
}
