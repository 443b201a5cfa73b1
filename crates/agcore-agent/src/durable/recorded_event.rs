//! [`RecordedEvent`]: an event of a turn in the form in which it is stored.

use std::sync::{Mutex, PoisonError};

use agcore_chat::EventKind;
use agcore_memory::{MemoryError, MemoryErrorKind, session::NewEvent};
use serde::{Deserialize, Serialize};

use super::{
    derived::{Position, run_id},
    rows::Place,
};

/// An event of a turn in the form in which [`StoredSessions`](crate::StoredSessions::with_events) stores it.
///
/// These are the events that the loop records: messages, usage, calls with their results, questions and answers, compactions,
/// the start and the end of a turn. Previews, such as deltas, and events of sub-agents are not among them.
///
/// ```
/// # use std::sync::Arc;
/// use agcore_agent::{AgentSpec, RecordedEvent, agent};
/// use agcore_chat::{EventKind, TurnEvent};
/// # use agcore_llm::SystemClock;
/// use agcore_memory::session::{EventFilter, InMemorySessionStore, SessionStore};
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

/// Makes the events of a session that are stored.
pub(super) struct EventLog {
    /// The name of the agent that has the conversation.
    agent: Mutex<String>,
}

impl RecordedEvent {
    /// The kind under which these events are stored.
    pub const KIND: &'static str = "turn";
}

impl EventLog {
    pub(super) fn new(agent: &str) -> Self {
        Self {
            agent: Mutex::new(agent.to_owned()),
        }
    }

    pub(super) fn set_agent(&self, agent: &str) {
        agent.clone_into(&mut self.agent.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Returns events for the store, as of a position.
    pub(super) fn new_events(&self, position: &Position, events: &[EventKind]) -> Result<Vec<NewEvent>, MemoryError> {
        let agent = self.agent.lock().unwrap_or_else(PoisonError::into_inner);
        let message = position.reply.map(|record| Place { record, index: 0 }.id());
        let run = run_id(position.turns);
        let new_event = |kind: &EventKind| {
            let belongs_to_reply = matches!(kind, EventKind::Text(_) | EventKind::Tool(_) | EventKind::Model(_));
            let event = Borrowed {
                agent: &agent,
                turn: position.turns.saturating_sub(1),
                message: message.as_deref().filter(|_| belongs_to_reply),
                kind,
            };
            let data = serde_json::to_value(event).map_err(|error| {
                let message = "an event cannot be written as JSON";
                MemoryError::with_source(MemoryErrorKind::Serialization, message, error)
            })?;
            Ok(NewEvent::new(run.as_str(), RecordedEvent::KIND, data))
        };
        events.iter().map(new_event).collect()
    }
}
