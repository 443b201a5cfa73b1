//! [`Shared`]: what all clones of a session share.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use agcore_chat::{Message, ToolExecutor};
use agcore_llm::{LlmCycle, TurnInput};
use agcore_tools::{ToolContext, ToolSession};
use tokio_util::sync::CancellationToken;

use super::occupancy::Occupancy;
use crate::{agent::Agent, bundle::RuntimeBundle, error::AgentError, prompt_layers::system_prompt};

/// What the tools' own note about a cut result may take, in bytes.
const CUT_NOTE: usize = 128;

pub(super) struct Shared {
    pub(super) id: Arc<str>,
    pub(super) bundle: RuntimeBundle,
    /// Who answers in the next turn.
    pub(super) agent: Mutex<Arc<dyn Agent>>,
    pub(super) tools: ToolSession,
    /// By the wall clock: a session ages also while no process has it.
    pub(super) made: SystemTime,
    pub(super) conversation: Occupancy<Conversation>,
}

/// What one turn uses at a time.
pub(super) struct Conversation {
    pub(super) cycle: LlmCycle,
    /// Who answers in the newest turn, also when it goes on after another agent was set for the next.
    pub(super) agent: Arc<dyn Agent>,
}

impl Shared {
    pub(super) fn agent(&self) -> Arc<dyn Agent> {
        Arc::clone(&self.agent.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// How long ago the session was made.
    fn age(&self) -> Duration {
        let now = self.bundle.parts().clock.now();
        now.duration_since(self.made).unwrap_or_default()
    }

    /// Whether another turn may begin at all.
    pub(super) fn check_limits(&self, input: &TurnInput, cycle: &LlmCycle) -> Result<(), AgentError> {
        let config = self.bundle.config();
        if let Some(ttl) = config.session_ttl.filter(|ttl| self.age() >= *ttl) {
            let message = format!(
                "the session is older than session_ttl ({} s); begin a new one",
                ttl.as_secs()
            );
            return Err(AgentError::LimitExceeded(message));
        }
        let begins = matches!(input, TurnInput::Begin(_));
        if let Some(most) = config
            .max_turns
            .filter(|most| begins && cycle.machine().turns() >= *most)
        {
            let message = format!("the session has had all {most} turns of max_turns; begin a new one, or raise it");
            return Err(AgentError::LimitExceeded(message));
        }
        Ok(())
    }

    /// Recomputes what the agent and the day decide.
    pub(super) fn apply(&self, agent: &dyn Agent, cycle: &mut LlmCycle) {
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

    /// The tools that the agent exposes, as of this turn.
    pub(super) fn executor(
        &self,
        agent: &Arc<dyn Agent>,
        token: &CancellationToken,
    ) -> Result<Arc<dyn ToolExecutor>, AgentError> {
        let parts = self.bundle.parts();
        let context = ToolContext::builder(Arc::clone(&parts.clock))
            .session_id(&*self.id)
            .trace_id(&*self.id)
            .cancellation(token.clone())
            .extensions(parts.extensions.clone())
            .build();
        let chooser = Arc::clone(agent);
        let mut builder = parts
            .tools
            .subset(move |tool| chooser.exposes(tool))
            .executor(context)
            .policy(parts.policy.clone())
            .session(self.tools.clone())
            .max_result_bytes(first_cut(parts.config.limits.max_tool_result_bytes));
        if let Some(sink) = &parts.audit {
            builder = builder.audit(Arc::clone(sink));
        }
        Ok(Arc::new(builder.build()?))
    }
}

/// Where the tools cut a result: so far below the cycle's limit that their note, which tells the real size, fits in and
/// is not cut off again.
fn first_cut(limit: usize) -> usize {
    limit.saturating_sub(CUT_NOTE).max(limit / 2)
}
