//! [`RecordedEvent`]: an event of a turn in the form in which it is stored.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::{EventKind, StreamEvent};
use agcore_session::{NewEvent, SessionError, SessionErrorKind};
use serde::{Deserialize, Serialize};

use super::derived::{Position, run_id};

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
/// use agcore_session::{EventFilter, InMemorySessionStore, SessionStore};
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
    pub agent: String,
    /// The index of the turn, from 0.
    pub turn: u32,
    /// The id of the message in which the store keeps the newest reply, to which events about texts, models and tools belong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The tool call for which a sub-agent works, if this is an event of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    kind: &'a EventKind,
}

/// Makes the events of a session that are stored.
pub(super) struct EventLog {
    /// The name of the agent that has the conversation.
    agent: Mutex<String>,
    /// The tool call for which a sub-agent works.
    parent: Option<Arc<str>>,
}

impl RecordedEvent {
    /// The kind under which these events are stored.
    pub const KIND: &'static str = "turn";

    /// Returns the event as observers receive it.
    pub fn into_event(self) -> StreamEvent {
        let mut event = StreamEvent::new(0, self.agent.into(), self.turn, 0, self.kind);
        event.message = self.message.map(Into::into);
        event.parent = self.parent.map(Into::into);
        event
    }
}

impl EventLog {
    pub(super) fn new(agent: &str) -> Self {
        Self {
            agent: Mutex::new(agent.to_owned()),
            parent: None,
        }
    }

    /// Makes this the events of a sub-agent that works for a tool call.
    pub(super) fn of_call(mut self, call: &Arc<str>) -> Self {
        self.parent = Some(Arc::clone(call));
        self
    }

    pub(super) fn set_agent(&self, agent: &str) {
        agent.clone_into(&mut self.agent.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns events for the store, as of a position. `message` is the id of the newest reply.
    pub(super) fn new_events(
        &self,
        position: &Position,
        message: Option<&str>,
        events: &[EventKind],
    ) -> Result<Vec<NewEvent>, SessionError> {
        let agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        let run = run_id(position.turns);
        let new_event = |kind: &EventKind| {
            let belongs_to_reply = matches!(kind, EventKind::Text(_) | EventKind::Tool(_) | EventKind::Model(_));
            let event = Borrowed {
                agent: &agent,
                turn: position.turns.saturating_sub(1),
                message: message.filter(|_| belongs_to_reply),
                parent: self.parent.as_deref(),
                kind,
            };
            let data = serde_json::to_value(event).map_err(|error| {
                let message = "an event cannot be written as JSON";
                SessionError::with_source(SessionErrorKind::Serialization, message, error)
            })?;
            Ok(NewEvent::new(run.as_str(), RecordedEvent::KIND, data))
        };
        events.iter().map(new_event).collect()
    }
}
