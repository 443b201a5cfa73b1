//! [`Scope`] and [`Speaker`]: the run whose events are encoded, and the agents in it.

use std::sync::Arc;

use agcore_chat::Text;

use crate::event::AguiEvent;

/// The ids of the run.
#[derive(Debug, Clone)]
pub(super) struct Scope {
    pub(super) thread: Text,
    pub(super) run: Text,
}

impl Scope {
    /// Adds the ids of the run as members of agcore.
    pub(super) fn mark(&self, event: AguiEvent) -> AguiEvent {
        event
            .with_own("threadId", self.thread.as_str())
            .with_own("runId", self.run.as_str())
    }
}

/// An agent, and the sub-agent run in which it works.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Speaker {
    /// The id of the sub-agent run; `None` for an agent that answers the user.
    pub(super) owner: Option<Text>,
    pub(super) agent: Arc<str>,
}
