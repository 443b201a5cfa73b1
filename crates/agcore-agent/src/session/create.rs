//! Creates and restores the sessions of a bundle.

use std::sync::Arc;

use super::{AgentSession, SessionState};
use crate::{agent::Agent, bundle::RuntimeBundle, error::AgentError};

impl RuntimeBundle {
    /// Starts a session with the default agent, under a new id (a UUID of version 7).
    ///
    /// [`session`](Self::session) takes an agent and an id of your choice.
    pub fn new_session(&self) -> AgentSession {
        self.new_session_with(Arc::clone(&self.parts().agent) as Arc<dyn Agent>)
    }

    /// Starts a session with an agent, under a new id.
    pub(crate) fn new_session_with(&self, agent: Arc<dyn Agent>) -> AgentSession {
        self.session(self.new_id(), agent)
    }

    /// Creates a session with an agent, under an id of your choice.
    pub fn session(&self, id: impl Into<Arc<str>>, agent: impl Agent + 'static) -> AgentSession {
        self.warn_of_unused_instructions(&agent);
        AgentSession::new(self.clone(), id.into(), Arc::new(agent))
    }

    /// Restores a saved session.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) for a state of another version or a damaged one.
    pub fn restore(&self, state: SessionState, agent: impl Agent + 'static) -> Result<AgentSession, AgentError> {
        AgentSession::restore(self.clone(), state, Arc::new(agent))
    }
}
