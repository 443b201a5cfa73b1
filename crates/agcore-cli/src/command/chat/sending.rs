//! Sends messages in a [`Conversation`], and reports turns that do not finish.

pub(super) mod partial;

use agcore::{
    Message,
    chat::{Content, ContentPart},
};

use self::partial::Kept;
use super::{conversation::Conversation, elsewhere, turn_runner::TurnEnd};
use crate::{exit::Failure, turn::Input};

impl Conversation {
    /// Runs a turn with this content and the output of shell commands.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) async fn send(&mut self, content: Content) -> Result<(), Failure> {
        let news = self.tools.chat.as_ref().and_then(|chat| chat.take_news(&self.session));
        self.attached.extend(news);
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

    /// Reports a turn that did not start or continue, because the session is in use or was continued elsewhere.
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
        if let Some(chat) = &self.tools.chat {
            chat.follow(&self.session);
        }
        self.chats.learn_window(&self.session, &self.model).await;
        let before = self.session.messages().await;
        let is_new = message.is_some();
        // Kept until the part of an answer that arrived is stored, too.
        let hold = match self.session.hold().await {
            Ok(hold) => hold,
            Err(error) => return self.refused(&error.into()).await.map(|()| false),
        };
        if is_new {
            self.folder.undo().start_turn();
        }
        let failure = match self.turns.run(&self.session, input).await? {
            TurnEnd::Finished => {
                self.turns.log.has_answered = true;
                return Ok(false);
            }
            TurnEnd::Suspended => return Ok(true),
            TurnEnd::Failed(failure) => failure,
        };
        if failure.is_held() || failure.is_out_of_date() {
            drop(hold);
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
