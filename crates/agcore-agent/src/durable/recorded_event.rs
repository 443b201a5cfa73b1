//! [`RecordedEvent`]: an event of a turn in the form in which it is stored.

use agcore_chat::EventKind;
use agcore_memory::{MemoryError, MemoryErrorKind, session::NewEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An event of a turn in the form in which [`StoredSessions`](crate::StoredSessions::with_events) stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// The name of the agent.
    pub agent: String,
    /// The index of the turn, from 0.
    pub turn: u32,
    /// The id of the message in which the store keeps the newest reply, to which events about texts, models and tools belong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The event.
    pub kind: EventKind,
}

/// An event that is being stored.
#[derive(Serialize)]
struct Borrowed<'a> {
    agent: &'a str,
    turn: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    kind: &'a EventKind,
}

/// Where events happen.
pub(super) struct EventPlace {
    agent: String,
    turn: u32,
    pub(super) message: Option<String>,
}

impl RecordedEvent {
    /// The kind under which these events are stored.
    pub const KIND: &'static str = "turn";

    pub(super) fn place(agent: String, turn: u32) -> EventPlace {
        EventPlace {
            agent,
            turn,
            message: None,
        }
    }
}

impl EventPlace {
    /// Returns an event of a run for the store.
    pub(super) fn new_event(&self, run: &str, kind: &EventKind) -> Result<NewEvent, MemoryError> {
        let belongs_to_reply = matches!(kind, EventKind::Text(_) | EventKind::Tool(_) | EventKind::Model(_));
        let event = Borrowed {
            agent: &self.agent,
            turn: self.turn,
            message: self.message.as_deref().filter(|_| belongs_to_reply),
            kind,
        };
        let data: Value = serde_json::to_value(event).map_err(|error| {
            MemoryError::with_source(
                MemoryErrorKind::Serialization,
                "an event cannot be written as JSON",
                error,
            )
        })?;
        Ok(NewEvent::new(run, RecordedEvent::KIND, data))
    }
}
