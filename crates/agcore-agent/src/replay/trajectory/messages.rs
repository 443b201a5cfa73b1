//! Trajectories from the messages of a conversation, and back.

use std::{collections::HashMap, sync::Arc};

use agcore_chat::{Message, Text, ToolMessage, ToolOutcome};
use agcore_cycle::machine::{Begin, Limits, Machine, Outcome, Reply};

use super::{PlayedStep, Trajectory, TrajectoryEntry, TrajectoryError};

impl Trajectory {
    /// Creates a trajectory from a conversation, for example that of a session without a store. Times and usage are unknown.
    ///
    /// ```
    /// use agcore_agent::Trajectory;
    /// use agcore_chat::Message;
    ///
    /// let trajectory = Trajectory::from_messages("s-1", [Message::user("Hello"), Message::assistant("Good day.")])?;
    /// assert_eq!(trajectory.turns(), 1);
    /// assert_eq!(trajectory.messages().len(), 2);
    /// # Ok::<(), agcore_agent::TrajectoryError>(())
    /// ```
    ///
    /// # Errors
    /// When the conversation begins with an answer, or is not one that a model can be sent.
    pub fn from_messages(
        session: impl Into<String>,
        messages: impl IntoIterator<Item = impl Into<Arc<Message>>>,
    ) -> Result<Self, TrajectoryError> {
        let limits = Limits::new().with_max_tool_turns(u32::MAX);
        let mut outcomes = Vec::new();
        let mut input: Vec<Arc<Message>> = Vec::new();
        for message in messages {
            let message: Arc<Message> = message.into();
            if !matches!(&*message, Message::Assistant(_) | Message::Tool(_)) {
                input.push(message);
                continue;
            }
            if !input.is_empty() {
                outcomes.push(Outcome::TurnStarted(Begin::new(input.drain(..))));
            }
            match &*message {
                Message::Assistant(reply) => {
                    outcomes.push(Outcome::Reply(Reply::new(reply.clone())));
                    if reply.has_tool_calls() {
                        let calls = reply.tool_calls().map(|call| Text::from(call.id.as_str()));
                        outcomes.push(Outcome::Started(calls.collect()));
                    }
                }
                Message::Tool(result) => outcomes.push(result_of(result)),
                _ => {}
            }
        }
        if !input.is_empty() {
            outcomes.push(Outcome::TurnStarted(Begin::new(input)));
        }
        let entry = TrajectoryEntry::new(outcomes).with_state(Machine::new(limits));
        Self::new(session, [entry])
    }

    /// Returns the whole conversation, with what compactions have removed from what the model sees. What the session did not keep,
    /// such as the input of a turn that failed, is left out.
    pub fn messages(&self) -> Vec<Arc<Message>> {
        let mut shown = Shown::default();
        let played = self.play(|step| match step {
            PlayedStep::State(before, state) => {
                shown.end_turn(before);
                if before.history() != state.history() {
                    shown.messages = state.history().to_vec();
                }
                shown.start_turn(state);
            }
            PlayedStep::Outcome(before, outcome) => shown.outcome(before, outcome),
        });
        if let Ok(end) = played {
            shown.end_turn(&end);
        }
        shown.messages
    }
}

/// Collects the messages of a conversation.
#[derive(Default)]
struct Shown {
    messages: Vec<Arc<Message>>,
    /// The number of messages before the turn.
    before: usize,
    /// The length of the history before the turn.
    history: usize,
    /// Whether the history was compacted in the turn.
    is_compacted: bool,
    /// The names of the tools that were called.
    names: HashMap<String, String>,
}

impl Shown {
    fn outcome(&mut self, machine: &Machine, outcome: &Outcome) {
        match outcome {
            Outcome::TurnStarted(begin) => {
                self.end_turn(machine);
                if begin.replaces {
                    self.messages.clear();
                }
                self.start_turn(machine);
                if begin.replaces {
                    self.history = 0;
                }
                self.messages.extend(begin.messages.iter().cloned());
            }
            Outcome::Compact(_) if !machine.is_open() => {
                self.end_turn(machine);
                self.start_turn(machine);
                self.is_compacted = true;
            }
            Outcome::Compact(_) => self.is_compacted = true,
            Outcome::Reply(reply) => {
                let calls = reply.message.tool_calls();
                self.names
                    .extend(calls.map(|call| (call.id.clone(), call.name.clone())));
                self.messages
                    .push(Arc::new(Message::Assistant((*reply.message).clone())));
            }
            Outcome::Tool { call, outcome, .. } => {
                let name = self.names.get(&**call);
                self.messages.extend(message_of(call, outcome, name));
            }
            _ => {}
        }
    }

    fn start_turn(&mut self, machine: &Machine) {
        self.before = self.messages.len();
        self.history = machine.history().len();
        self.is_compacted = false;
    }

    /// Replaces what was collected in the turn by what the session has kept of it, unless that was compacted.
    fn end_turn(&mut self, machine: &Machine) {
        if self.is_compacted || machine.is_open() {
            return;
        }
        if let Some(kept) = machine.history().get(self.history..) {
            self.messages.truncate(self.before);
            self.messages.extend(kept.iter().cloned());
        }
    }
}

fn result_of(message: &ToolMessage) -> Outcome {
    Outcome::tool(
        message.tool_call_id.as_str(),
        ToolOutcome::done(message.content.clone()),
    )
}

/// Returns the result of a call as a message, or `None` for a question.
fn message_of(call: &Text, outcome: &ToolOutcome, name: Option<&String>) -> Option<Arc<Message>> {
    let content = match outcome {
        ToolOutcome::Done(result) => result.content.clone(),
        ToolOutcome::Divert { content, .. } => content.clone(),
        ToolOutcome::Fatal(fault) => fault.message.as_str().into(),
        _ => return None,
    };
    let mut message = ToolMessage {
        tool_call_id: call.to_string(),
        content,
        ..ToolMessage::default()
    };
    message.name = name.cloned();
    Some(Arc::new(Message::Tool(message)))
}
