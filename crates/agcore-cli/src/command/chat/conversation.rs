//! [`Conversation`]: the state of an interactive chat.

use std::sync::Arc;

use agcore::{
    AgentSession, AgentSpec, Message,
    chat::{Content, ContentPart},
};

use super::{
    disabled::{Part, disabled},
    elsewhere,
    partial::{self, Kept},
    paste_image::PastedImages,
    screen::Screen,
    session::{ChatSessions, ChatTools},
    turn_runner::{TurnEnd, TurnRunner},
};
use crate::{
    console::Console,
    exit::Failure,
    program_tools::ToolFolder,
    settings::{ContextFiles, Effect},
    turn::Input,
};

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
    pub(super) tools: ChatTools,
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
        self.last = Some(message.clone());
        match self.run(Some(message.clone()), message.into()).await? {
            true => self
                .screen
                .note("The turn waits for an answer that this chat cannot give. A new message ends it."),
            false => Ok(()),
        }
    }

    /// Runs a turn, or continues one. Of a turn that fails, as much as possible is kept. Returns whether it is suspended until its
    /// questions are answered.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn run(&mut self, message: Option<Message>, input: Input) -> Result<bool, Failure> {
        let ended = self.run_turn(message, input).await;
        let problems = self.chats.hooks.take_problems();
        problems.iter().try_for_each(|problem| self.screen.error(problem))?;
        ended
    }

    /// Reports a turn that did not start or go on, because the session is in use or was continued elsewhere.
    async fn refused(&mut self, failure: &Failure) -> Result<(), Failure> {
        self.screen.error(&failure.to_string())?;
        if failure.is_out_of_date() {
            return self
                .screen
                .note("Type /resume to open the session as it is now.")
                .and_then(|()| self.note_resend());
        }
        match elsewhere::resolve(self).await? {
            true => self.note_resend(),
            false => Ok(()),
        }
    }

    fn note_resend(&self) -> Result<(), Failure> {
        self.screen
            .note("Your message was not sent. Press ↑ to edit and resend it.")
    }

    async fn run_turn(&mut self, message: Option<Message>, input: Input) -> Result<bool, Failure> {
        self.screen.speaker("agent")?;
        self.chats.learn_window(&self.session, &self.model).await;
        let before = self.session.messages().await;
        let is_new = message.is_some();
        if is_new {
            self.folder.undo().start_turn();
        }
        let failure = match self.turns.run(&self.session, input).await? {
            TurnEnd::Finished => return Ok(false),
            TurnEnd::Suspended => return Ok(true),
            TurnEnd::Failed(failure) => failure,
        };
        if failure.is_held() || failure.is_out_of_date() {
            return self.refused(&failure).await.map(|()| false);
        }
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
        if is_new && matches!(kept, Ok(Kept::Nothing)) {
            self.folder.undo().remove_turns(1);
        }
        match kept {
            Ok(kept) => self.screen.note(after(&kept))?,
            Err(error) => self.screen.error(&format!("cannot keep the answer: {error}"))?,
        }
        Ok(false)
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
