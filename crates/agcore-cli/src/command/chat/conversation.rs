//! [`Conversation`]: the state of an interactive chat.

use std::sync::Arc;

use agcore::{AgentSession, AgentSpec};

use super::{screen::Screen, turn_runner::TurnRunner};
use crate::{console::Console, exit::Failure};

/// An interactive chat.
pub(super) struct Conversation {
    /// The session, which keeps the messages.
    pub(super) session: AgentSession,
    /// The agent that answers.
    pub(super) agent: AgentSpec,
    /// The model that answers.
    pub(super) model: String,
    pub(super) turns: TurnRunner,
    pub(super) console: Console,
    pub(super) screen: Screen,
}

impl Conversation {
    /// Switches to another model.
    pub(super) fn switch_model(&mut self, model: &str) {
        self.agent = self.agent.clone().with_model(model);
        self.session.switch_agent(Arc::new(self.agent.clone()));
        model.clone_into(&mut self.model);
    }

    /// Runs a turn with this message.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn send(&mut self, message: String) -> Result<(), Failure> {
        self.screen.speaker("agent")?;
        self.turns.run(&self.session, message).await
    }
}
