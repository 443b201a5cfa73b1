//! [`Segment`]: a part of a turn, from its start, its resumption or a handoff to the next pause.

use std::sync::Arc;

use agcore_chat::{AgentEvent, ContentPart, Marks, Message, Origin, StreamEvent};
use agcore_cycle::{
    Observer, TurnInput,
    machine::{Begin, Step},
};
use tokio_util::sync::CancellationToken;

use super::{
    handoff_state::HandoffState,
    live::{Conversation, CurrentAgent, LiveSession},
    tools::unknown_member,
};
use crate::error::AgentError;

/// A part of a turn: the session, its cancellation and its observer. Prepares the conversation for the part.
pub(super) struct Segment<'s> {
    pub(super) session: &'s LiveSession,
    pub(super) token: &'s CancellationToken,
    pub(super) observer: Option<&'s Observer>,
    /// Whether the observer also receives the events of sub-agents.
    pub(super) shows_sub_agents: bool,
    /// Whether a new turn starts.
    pub(super) starts: bool,
}

impl Segment<'_> {
    /// Prepares the conversation for a new turn, or for the open one that continues.
    pub(super) async fn prepare(
        &self,
        conversation: &mut Conversation,
        input: &mut TurnInput,
    ) -> Result<(), AgentError> {
        match input {
            TurnInput::Begin(begin) => {
                let memory = self.session.snapshot().await?;
                self.begin(conversation, begin, memory);
            }
            _ if self.reopen(conversation) => self.hand_over(conversation)?,
            _ => {}
        }
        self.open_team(conversation).await
    }

    /// Carries out the handoff that was requested in the turn.
    pub(super) fn hand_over(&self, conversation: &mut Conversation) -> Result<(), AgentError> {
        let from = conversation.agent.name().to_owned();
        let run_state = conversation.run_state.get_or_insert_default();
        let Some(to) = HandoffState::complete(run_state, &from) else {
            return Ok(());
        };
        let bundle = &self.session.bundle;
        let agent = bundle
            .member(&to)
            .ok_or_else(|| unknown_member(&from, &to, bundle.parts()))?;
        conversation.agent = Arc::clone(&agent);
        if let Some(observer) = self.observer {
            let event = AgentEvent::Handoff {
                from: from.into(),
                to: to.as_str().into(),
            };
            let machine = conversation.cycle.machine();
            let (turn, round) = (machine.turn_index(), machine.round());
            observer.send(StreamEvent::new(0, Arc::from(to.as_str()), turn, round, event));
        }
        if let Some(recorder) = &self.session.recorder {
            recorder.set_agent(Some(&to));
        }
        *self.session.current() = CurrentAgent {
            agent,
            handed_to: Some(to),
            note: None,
        };
        Ok(())
    }

    /// Gives a new turn to the agent of the session, and adds what its first message contains beside the input.
    fn begin(&self, conversation: &mut Conversation, begin: &mut Begin, memory: Option<String>) {
        let mut current = self.session.current();
        conversation.agent = Arc::clone(&current.agent);
        conversation.run_state = None;
        conversation.team = None;
        self.session.tools.begin_turn();
        if let Some(note) = current.note.take() {
            add_part(begin, note, Origin::Handoff);
        }
        if memory != conversation.shown_memory
            && let Some(snapshot) = memory
        {
            add_part(begin, format!("{snapshot}\n\n"), Origin::Context);
            conversation.shown_memory = Some(snapshot);
        }
    }

    /// Continues an open turn with the agent that has it. Returns whether a handoff is due at once.
    fn reopen(&self, conversation: &mut Conversation) -> bool {
        let Some(run_state) = &conversation.run_state else {
            return false;
        };
        let state = HandoffState::of(run_state);
        if let Some(agent) = state.agent.as_deref().and_then(|name| self.session.bundle.member(name)) {
            conversation.agent = agent;
        }
        state.target().is_some() && matches!(conversation.cycle.machine().next(), Step::Call(_))
    }
}

/// Adds a text, which neither the user nor the model wrote, before the newest user message of a turn.
fn add_part(begin: &mut Begin, text: String, origin: Origin) {
    let mut newest = begin.messages.iter_mut().rev();
    let user = newest.find(|message| matches!(***message, Message::User(_)));
    if let Some(Message::User(user)) = user.map(Arc::make_mut) {
        let mut parts = vec![ContentPart::text(text).with_marks(Marks::new().with_origin(origin))];
        parts.append(&mut std::mem::take(&mut user.content).into_parts());
        user.content = parts.into();
    }
}
