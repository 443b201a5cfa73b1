//! Suspended, interrupted and finished turns, and the state that stored sessions write beside their turns.

use std::sync::Arc;

use agcore_chat::{Message, ToolCall};
use agcore_cycle::{
    LlmCycle, Spent,
    machine::{End, Step},
};
use agcore_session::{Commit, Hold, SessionErrorKind};

use super::{AgentSession, SessionState};
use crate::{error::AgentError, turn::Conversation};

impl AgentSession {
    /// Returns whether a turn is open that neither runs nor waits for a person: its process died, its future was dropped, or its
    /// store failed. [`resume`](Self::resume) without answers continues it, and a new [`turn`](Self::turn) abandons it. Waits for
    /// the running turn.
    ///
    /// A turn that another handle or another process drives is not interrupted, and neither is one that was continued elsewhere
    /// since this handle was opened. [`resume`](Self::resume) and [`turn`](Self::turn) then fail and say why.
    pub async fn is_interrupted(&self) -> bool {
        self.has_open_turn().await && self.is_free().await
    }

    /// Returns whether no other handle drives the session or has continued it. If the store fails, that is left to the next write.
    async fn is_free(&self) -> bool {
        let Some(recorder) = &self.0.recorder else {
            return true;
        };
        match recorder.hold().await {
            Err(error) if error.kind() == SessionErrorKind::Held => false,
            // Kept while the store is asked.
            _hold => recorder.check_is_newest().await.is_ok(),
        }
    }

    /// Returns whether a turn is open that does not wait for a person, according to the state of this handle.
    async fn has_open_turn(&self) -> bool {
        let read = |conversation: &Conversation| {
            let machine = conversation.cycle.machine();
            machine.is_open() && !matches!(machine.next(), Step::Wait(_))
        };
        self.0.conversation.read(read).await
    }

    /// Returns the tool calls that were running when the turn was interrupted: their outcome is unknown. When the turn is
    /// [resumed](Self::resume), those of idempotent and read-only tools run again, with the same id; about each of the others, a
    /// person is asked. Waits for the running turn.
    pub async fn uncertain_calls(&self) -> Vec<ToolCall> {
        let read = |conversation: &Conversation| conversation.cycle.machine().uncertain().cloned().collect();
        self.0.conversation.read(read).await
    }

    /// Returns whether a turn is suspended until its questions are answered. Waits for the running turn.
    pub async fn is_suspended(&self) -> bool {
        let read = |conversation: &Conversation| conversation.cycle.machine().questions().next().is_some();
        self.0.conversation.read(read).await
    }

    /// Returns what the newest turn has spent of its budgets, with its sub-agents, according to the records: a call whose
    /// process ended before the answer was recorded is missing. Of a session without a store, the sub-agents only count if they
    /// [share a budget](crate::TeamLimits::with_budget). Waits for the running turn.
    ///
    /// # Errors
    /// When the records of the sub-agents cannot be read.
    pub async fn turn_spent(&self) -> Result<Spent, AgentError> {
        self.0.turn_spent().await
    }

    /// Returns the number of turns that were started. Waits for the running turn.
    pub(crate) async fn turns(&self) -> u32 {
        let read = |conversation: &Conversation| conversation.cycle.machine().turns();
        self.0.conversation.read(read).await
    }

    /// Returns the answer of the newest turn, if it has ended with one. Waits for the running turn.
    pub(crate) async fn last_answer(&self) -> Option<String> {
        let read = |conversation: &Conversation| {
            let machine = conversation.cycle.machine();
            let is_answered = matches!(machine.next(), Step::End(End::Answered));
            let mut newest = machine.history().iter().rev().filter(|_| is_answered);
            let answer = newest.find_map(|message| message.as_assistant());
            answer.map(|answer| answer.text().into_owned())
        };
        self.0.conversation.read(read).await
    }

    /// Takes the right to drive the session, for as long as the result is kept. Each turn takes it for itself; take it here for
    /// several steps between which no other handle and no other process may continue the session, such as a turn and a message
    /// that is added after it. Turns of this handle and its clones run meanwhile.
    ///
    /// Without a store, there is no other handle, and this does nothing.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use agcore_agent::{AgentErrorKind, AgentSpec, agent};
    /// # use agcore_llm::SystemClock;
    /// # use agcore_session::InMemorySessionStore;
    /// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([ScriptStep::text("Good day."), ScriptStep::text("Good night.")]);
    /// # let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    /// # let sessions = agent(model).with_session_store(store).build()?.stored_sessions()?;
    /// let session = sessions.create("s-1", AgentSpec::new("greeter", "You greet people.")).await?;
    /// let other = sessions.open("s-1", AgentSpec::new("greeter", "You greet people.")).await?;
    ///
    /// let hold = session.hold().await?;
    /// session.turn("Hello").await?;
    /// assert_eq!(other.turn("Hello").await.unwrap_err().kind(), AgentErrorKind::Held);
    /// session.add_message(agcore_chat::Message::user("Noted.")).await?;
    /// drop(hold);
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Held`](crate::AgentErrorKind::Held) while another handle or another process drives the session.
    pub async fn hold(&self) -> Result<Hold, AgentError> {
        Ok(self.0.hold().await?.map_or_else(Hold::granted, Hold::new))
    }

    /// Writes changes that were made between turns, such as [`set_messages`](Self::set_messages), to the store now instead of with
    /// the next turn. Does nothing for a session that is not [stored](crate::StoredSessions). Waits for the running turn.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// use agcore_agent::{AgentSpec, agent};
    /// # use agcore_llm::SystemClock;
    /// # use agcore_session::InMemorySessionStore;
    /// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
    /// # let model = ScriptedProvider::new([ScriptStep::text("Good day.")]);
    /// # let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    /// # let sessions = agent(model).with_session_store(store).build()?.stored_sessions()?;
    /// let session = sessions.create("s-1", AgentSpec::new("greeter", "You greet people.")).await?;
    /// session.turn("Hello").await?;
    /// session.set_messages(Vec::new()).await.unwrap();
    /// session.save().await?;
    ///
    /// let session = sessions.open("s-1", AgentSpec::new("greeter", "You greet people.")).await?;
    /// assert!(session.messages().await.is_empty());
    /// # Ok::<(), agcore_agent::AgentError>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails, [`Held`](crate::AgentErrorKind::Held) while another handle
    /// or another process drives the session.
    pub async fn save(&self) -> Result<(), AgentError> {
        self.write_state(Commit::new(), &[]).await
    }

    /// Adds a message to the end of the conversation, between turns, such as the part of an answer that arrived before it broke
    /// off. A [stored](crate::StoredSessions) session stores it at once. Waits for the running turn.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::AgentErrorKind::InvalidInput) if the conversation cannot be sent with this message; it then stays as
    /// it was. [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn add_message(&self, message: impl Into<Message>) -> Result<(), AgentError> {
        self.add_message_with(message.into(), Commit::new()).await
    }

    /// Adds a message to the end of the conversation, with a commit that belongs to it.
    pub(crate) async fn add_message_with(&self, message: Message, commit: Commit) -> Result<(), AgentError> {
        let added = Arc::new(message.clone());
        let extend = |conversation: &mut Conversation| conversation.cycle.extend_messages([added]);
        let extended = self.0.conversation.write(extend).await;
        extended.map_err(|error| AgentError::input(error.to_string()))?;
        self.write_state(commit, &[message]).await
    }

    /// Replaces the conversation, with its usage, by a saved one. A turn that is open in the saved one is abandoned. What people
    /// have allowed in this session stays. A [stored](crate::StoredSessions) session stores this at once. Waits for the running
    /// turn.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) for a state of another version or a damaged one,
    /// [`Storage`](crate::AgentErrorKind::Storage) if the store fails.
    pub async fn replace(&self, state: SessionState) -> Result<(), AgentError> {
        let parts = self.0.bundle.parts();
        let saved = state.into_parts(parts.clock.now())?;
        let (provider, clock) = (Arc::clone(&parts.provider), Arc::clone(&parts.clock));
        let mut cycle = LlmCycle::from_shared(provider, clock, parts.settings.base(), saved.machine);
        if self.0.recorder.is_some() {
            cycle.start_recording();
        }
        cycle.abandon_turn()?;
        let messages = cycle.messages().to_vec();
        let cycle = cycle.with_hooks(parts.hooks.clone());
        let replace = |conversation: &mut Conversation| {
            conversation.cycle = cycle;
            conversation.run_state = None;
            conversation.team = None;
        };
        self.0.conversation.write(replace).await;
        let is_new = match &self.0.recorder {
            Some(recorder) => recorder.is_empty().await,
            None => false,
        };
        let shown: Vec<Message> = messages
            .iter()
            .filter(|_| is_new)
            .map(|message| (**message).clone())
            .collect();
        self.write_state(Commit::new(), &shown).await
    }

    /// Writes the state of a stored session, with a commit that belongs to it and the rows of these messages.
    pub(crate) async fn write_state(&self, commit: Commit, shown: &[Message]) -> Result<(), AgentError> {
        let Some(recorder) = &self.0.recorder else {
            return Ok(());
        };
        let _hold = self.0.hold().await?;
        let base = |conversation: &mut Conversation| {
            let calls = conversation.cycle.unrecorded_calls();
            (conversation.cycle.start_recording().clone(), calls)
        };
        let (machine, calls) = self.0.conversation.write(base).await;
        Ok(recorder.write_state(machine, calls, commit, shown).await?)
    }
}
