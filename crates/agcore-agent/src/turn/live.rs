//! [`LiveSession`]: an open session, with the [`Conversation`] that one turn uses at a time.

mod hold;
mod input;
mod limits;

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::SystemTime,
};

use agcore_chat::Actor;
use agcore_cycle::{BudgetPool, LlmCycle};
use agcore_tools::{RunState, ToolSession};

use super::{queue::TurnQueue, scope::Lineage};
use crate::{
    agent::Agent,
    bundle::RuntimeBundle,
    durable::SessionLog,
    error::AgentError,
    session_data::{SessionMemory, SessionResults},
};

/// An open session: its bundle, its agent and its conversation, shared by all clones.
pub(crate) struct LiveSession {
    pub(crate) id: Arc<str>,
    pub(crate) bundle: RuntimeBundle,
    pub(crate) agent: Mutex<CurrentAgent>,
    /// The place of the session among agents that ask others.
    pub(crate) lineage: Lineage,
    pub(crate) tools: ToolSession,
    /// The results as the model sees them, if it does not see long ones as they are.
    pub(crate) results: Option<Arc<SessionResults>>,
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

impl LiveSession {
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

    pub(super) fn current(&self) -> MutexGuard<'_, CurrentAgent> {
        self.agent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
