//! [`Conversation`]: the state of an interactive chat.

use std::sync::Arc;

use agcore::{AgentSession, AgentSpec, Message};
use agcore_settings::{ContextFiles, Effect};
use agcore_terminal::console::Console;
use agcore_workbench::{Workbench, program_tools::ToolFolder};

use super::{
    disabled::{Part, disabled},
    screen::Screen,
    session::ChatSessions,
    turn_runner::TurnRunner,
};
use crate::exit::Failure;
use agcore_terminal::clipboard::PastedImages;

/// An interactive chat.
pub(super) struct Conversation {
    /// Creates and opens sessions.
    pub(super) chats: ChatSessions,
    /// The session, which keeps the messages.
    pub(super) session: AgentSession,
    /// The agent that answers.
    pub(super) agent: AgentSpec,
    /// The model that answers.
    pub(super) model: String,
    /// The instructions of the project, which every agent gets.
    pub(super) project_instructions: ContextFiles,
    /// The parts that are not used because the folder is not trusted.
    pub(super) disabled: Vec<Effect>,
    /// The provider and its server, as shown to users.
    pub(super) provider: String,
    pub(super) turns: TurnRunner,
    /// The tools, and the MCP servers of some of them.
    pub(super) tools: Workbench,
    pub(super) console: Console,
    pub(super) screen: Screen,
    /// The output of shell commands that goes with the next message.
    pub(super) attached: Vec<String>,
    /// The folder of the tools, with the changes that can be taken back.
    pub(super) folder: ToolFolder,
    /// The images that were pasted.
    pub(super) images: PastedImages,
    /// The last message that was sent, whatever became of it.
    pub(super) last: Option<Message>,
    /// Whether the prompt shows the model, the branch, the context and the cost.
    pub(super) shows_status: bool,
}

impl Conversation {
    /// Switches to another model.
    pub(super) fn switch_model(&mut self, model: &str) {
        self.agent = self.agent.clone().with_model(model);
        self.session.switch_agent(Arc::new(self.agent.clone()));
        self.use_model(model);
    }

    /// Notes which model answers from now on.
    pub(super) fn use_model(&mut self, model: &str) {
        model.clone_into(&mut self.model);
        self.chats.window.use_model(model);
        if let Some(costs) = &mut self.turns.log.costs {
            costs.set_model(model);
        }
    }

    /// Continues with another session. Returns the id of the previous one, if it can be resumed.
    pub(super) async fn replace_session(&mut self, session: AgentSession) -> Option<String> {
        let old = std::mem::replace(&mut self.session, session);
        let is_used = old.usage().await.calls > 0 || !old.messages().await.is_empty();
        self.chats.forget_if_empty(old.id()).await;
        (is_used && self.chats.sessions.is_kept()).then(|| old.id().to_owned())
    }

    /// Shows a list, and what does not belong to it because the folder is not trusted.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn show_part(&self, list: &str, part: Part) -> Result<(), Failure> {
        self.screen.list(list)?;
        self.screen.list(&disabled(&self.disabled, part))
    }

    /// Stores a change of the conversation that was made between turns, and reports if that fails.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn save_change(&self) -> Result<(), Failure> {
        match self.session.save().await {
            Ok(()) => Ok(()),
            Err(error) => self.screen.error(&format!("the change is not stored: {error}")),
        }
    }
}
