//! [`RecordedEvent`]: an event of a turn in the form in which it is stored.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::{EventKind, StreamEvent, Text};
use agcore_session::{EventData, NewEvent, SessionError, SessionErrorKind};
use serde::{Deserialize, Serialize};

use super::derived::Position;

/// An event of a turn in the form in which [`StoredSessions`](crate::StoredSessions::with_events) stores it.
///
/// These are the events that the loop records: messages, usage, calls with their results, questions and answers, compactions,
/// the start and the end of a turn, also those of sub-agents. Previews, such as deltas, are not among them.
///
/// ```
/// # use std::sync::Arc;
/// use agcore_agent::{AgentSpec, RecordedEvent, agent};
/// use agcore_chat::{EventKind, TurnEvent};
/// # use agcore_llm::SystemClock;
/// use agcore_session::{EventFilter, InMemorySessionStore, SessionReader};
/// # use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// # let model = ScriptedProvider::new([ScriptStep::text("Good day.")]);
/// # let store = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
/// let sessions = agent(model).build()?.stored_sessions_in(store.clone()).with_events();
/// let session = sessions.create("s-1", AgentSpec::new("greeter", "You greet people.")).await?;
/// session.turn("Hello").await?;
///
/// let events = store.events("local", "s-1", &EventFilter::new()).await?;
/// let last: RecordedEvent = serde_json::from_value(events.last().unwrap().data.clone()).unwrap();
/// assert!(matches!(last.kind, EventKind::Turn(TurnEvent::Complete { .. })));
/// # Ok::<(), agcore_agent::AgentError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RecordedEvent {
    /// The name of the agent.
    pub agent: Arc<str>,
    /// The index of the turn, from 0.
    pub turn: u32,
    /// The id of the message in which the store keeps the newest reply, to which events about texts, models and tools belong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Arc<str>>,
    /// The tool call for which a sub-agent works, if this is an event of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Arc<str>>,
    /// The event.
    pub kind: EventKind,
}

/// Makes the events of a session that are stored.
pub(super) struct EventLog {
    /// The name of the agent that has the conversation.
    agent: Mutex<Arc<str>>,
    /// The tool call for which a sub-agent works.
    parent: Option<Arc<str>>,
}

impl RecordedEvent {
    /// The kind under which these events are stored.
    pub const KIND: &'static str = "turn";

    /// Returns the event as observers receive it.
    pub fn into_event(self) -> StreamEvent {
        let event = StreamEvent::new(0, self.agent, self.turn, 0, self.kind);
        event.with_message(self.message).with_parent(self.parent)
    }

    /// Returns the event as [`StoredSessions::with_events`](crate::StoredSessions::with_events) stores it.
    ///
    /// # Errors
    /// [`Serialization`](SessionErrorKind::Serialization) if it cannot be written as JSON.
    pub fn to_new_event(&self, run: impl Into<Text>) -> Result<NewEvent, SessionError> {
        let data = EventData::serialize(self).map_err(|error| {
            let message = "an event cannot be written as JSON";
            SessionError::with_source(SessionErrorKind::Serialization, message, error)
        })?;
        Ok(NewEvent::new(run, Self::KIND, data))
    }
}

impl EventLog {
    pub(super) fn new(agent: &str) -> Self {
        Self {
            agent: Mutex::new(agent.into()),
            parent: None,
        }
    }

    /// Makes this the events of a sub-agent that works for a tool call.
    pub(super) fn of_call(mut self, call: &Arc<str>) -> Self {
        self.parent = Some(Arc::clone(call));
        self
    }

    pub(super) fn set_agent(&self, agent: &str) {
        *self.agent.lock().unwrap_or_else(PoisonError::into_inner) = agent.into();
    }

    /// Returns the events that are stored, as of a position. `message` is the id of the newest reply.
    pub(super) fn recorded(
        &self,
        position: &Position,
        message: Option<&Arc<str>>,
        events: &[EventKind],
    ) -> Vec<RecordedEvent> {
        let agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        let recorded = |kind: &EventKind| {
            let belongs_to_reply = matches!(kind, EventKind::Text(_) | EventKind::Tool(_) | EventKind::Model(_));
            RecordedEvent {
                agent: Arc::clone(&agent),
                turn: position.turns.saturating_sub(1),
                message: message.filter(|_| belongs_to_reply).cloned(),
                parent: self.parent.clone(),
                kind: kind.clone(),
            }
        };
        events.iter().map(recorded).collect()
    }
}
