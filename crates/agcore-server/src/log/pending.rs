//! [`Pending`]: an entry that is not written yet.

use agcore_agui::Input;
use agcore_chat::{EventKind, ModelEvent, PersonEvent, StreamEvent, TextEvent, ToolEvent};
use agcore_session::NewMessage;

/// An entry that is written soon, in the order in which it was added: an input for clients, a message, or the position in a
/// source.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    /// The input that is reported to clients.
    pub(super) input: Option<Input>,
    /// A message of the session.
    pub(super) message: Option<Box<NewMessage>>,
    /// Where it comes from, and its number there. After a restart, only what has a greater number is added again.
    pub(super) source: Option<(String, u64)>,
    /// Whether it must be written before the next checkpoint, because nothing reports it again after that.
    pub(super) is_needed: bool,
}

impl Pending {
    /// Reports an input to clients.
    pub(crate) fn input(input: impl Into<Input>) -> Self {
        Self {
            input: Some(input.into()),
            ..Self::default()
        }
    }

    /// Adds a message to the session.
    pub(crate) fn message(message: NewMessage) -> Self {
        Self {
            message: Some(Box::new(message)),
            ..Self::default()
        }
    }

    /// Requires that this is written before the next checkpoint.
    pub(crate) fn needed(mut self) -> Self {
        self.is_needed = true;
        self
    }

    /// Notes that everything of a source up to this number was added.
    pub(crate) fn source(name: impl Into<String>, seq: u64) -> Self {
        Self {
            source: Some((name.into(), seq)),
            ..Self::default()
        }
    }
}

impl From<StreamEvent> for Pending {
    fn from(event: StreamEvent) -> Self {
        Self::input(event)
    }
}

/// Returns whether the agent loop does not record an event.
pub(super) fn is_preview(event: &StreamEvent) -> bool {
    match &event.kind {
        EventKind::Text(TextEvent::PartialObject(_)) => false,
        EventKind::Text(text) => !matches!(text, TextEvent::MessageComplete(_)),
        EventKind::Tool(tool) => matches!(tool, ToolEvent::Progress { .. }),
        EventKind::Model(model) => !matches!(model, ModelEvent::Usage(_) | ModelEvent::CutOff(_)),
        // The turn that waits records the question for all.
        EventKind::Person(PersonEvent::Suspended(_)) => event.parent.is_some(),
        EventKind::Person(person) => !matches!(person, PersonEvent::Asked(_) | PersonEvent::Answered { .. }),
        EventKind::Context(_) | EventKind::Turn(_) => false,
        _ => true,
    }
}
