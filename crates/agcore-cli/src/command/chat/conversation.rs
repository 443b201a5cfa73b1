//! [`Conversation`]: the state of an interactive chat.

use std::sync::Arc;

use agcore::{
    AgentSession, AgentSpec, Message,
    chat::{Content, ContentPart},
};

use super::{
    partial::{self, Kept},
    screen::Screen,
    turn_runner::{TurnEnd, TurnRunner},
};
use crate::{console::Console, exit::Failure};

/// An interactive chat.
pub(super) struct Conversation {
    /// The session, which keeps the messages.
    pub(super) session: AgentSession,
    /// The agent that answers.
    pub(super) agent: AgentSpec,
    /// The model that answers.
    pub(super) model: String,
    /// The provider and its server, as shown to users.
    pub(super) provider: String,
    pub(super) turns: TurnRunner,
    pub(super) console: Console,
    pub(super) screen: Screen,
    /// The output of shell commands that goes with the next message.
    pub(super) attached: Vec<String>,
    /// The last message that was sent, whatever became of it.
    pub(super) last: Option<Message>,
}

impl Conversation {
    /// Switches to another model.
    pub(super) fn switch_model(&mut self, model: &str) {
        self.agent = self.agent.clone().with_model(model);
        self.session.switch_agent(Arc::new(self.agent.clone()));
        model.clone_into(&mut self.model);
    }

    /// Runs a turn with this content and the output of shell commands.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn send(&mut self, content: Content) -> Result<(), Failure> {
        let blocks = std::mem::take(&mut self.attached).concat();
        let content = match (blocks.is_empty(), content) {
            (true, content) => content,
            (false, Content::Text(text)) => Content::Text(blocks + &text),
            (false, content) => {
                let parts = [ContentPart::text(blocks)].into_iter().chain(content.into_parts());
                Content::Parts(parts.collect())
            }
        };
        self.send_message(Message::user(content)).await
    }

    /// Runs a turn with this message. Of a turn that fails, as much as possible is kept.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn send_message(&mut self, message: Message) -> Result<(), Failure> {
        self.screen.speaker("agent")?;
        self.last = Some(message.clone());
        let before = self.session.messages().await;
        let failure = match self.turns.run(&self.session, message.clone()).await? {
            TurnEnd::Finished => return Ok(()),
            TurnEnd::Failed(failure) => failure,
        };
        let is_cancelled = failure.is_cancelled();
        let partial = self.turns.log.take_partial();
        let kept = partial::keep(&self.session, &before, message, &partial, is_cancelled).await;
        match is_cancelled {
            true => self.screen.error("cancelled")?,
            false => self.screen.error(&failure.to_string())?,
        }
        for tool in self.turns.take_unanswered() {
            self.screen.note(&format!("{tool} did not run."))?;
        }
        match kept {
            Ok(kept) => self.screen.note(after(&kept)),
            Err(error) => self.screen.error(&format!("cannot keep the answer: {error}")),
        }
    }
}

/// Describes what became of a turn that did not finish, and what the user can do.
fn after(kept: &Kept) -> &'static str {
    match kept {
        Kept::Answer => "The part that arrived is kept: ask to continue, or type /undo or /retry.",
        Kept::Rounds => "The completed part of this turn is kept in the conversation; /undo removes it.",
        Kept::Nothing => "Turn discarded. Type /retry, or press ↑ to edit and resend.",
    }
}
