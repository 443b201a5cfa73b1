//! [`Talk`]: a conversation at the terminal, and all that its commands work on.

use std::sync::Arc;

use agcore::{AgentSession, AgentSpec};

use super::{live_turn::LiveTurn, screen::Screen};
use crate::{console::Console, exit::Failure};

/// A conversation at the terminal.
pub(super) struct Talk {
    /// What is remembered.
    pub(super) session: AgentSession,
    /// Who answers.
    pub(super) agent: AgentSpec,
    /// The model that answers.
    pub(super) model: String,
    pub(super) turns: LiveTurn,
    pub(super) console: Console,
    pub(super) screen: Screen,
}

impl Talk {
    /// Has another model answer from now on.
    pub(super) fn switch_model(&mut self, model: &str) {
        self.agent = self.agent.clone().with_model(model);
        self.session.switch_agent(Arc::new(self.agent.clone()));
        model.clone_into(&mut self.model);
    }

    /// A turn with this message.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) async fn say(&mut self, message: String) -> Result<(), Failure> {
        self.screen.speaker("agent")?;
        self.turns.run(&self.session, message).await
    }
}
