//! The settings of stored sessions, other than those of costs.

use std::{sync::Arc, time::Duration};

use agcore_chat::Actor;
use serde_json::Value;

use super::StoredSessions;
use crate::durable::TurnLog;

/// The time for which a turn waits for a store without a setting: as long as a database usually takes to fail over.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

impl StoredSessions {
    /// Sets the actor who owns the sessions. Sessions of other actors behave as if they did not exist.
    #[must_use]
    pub fn with_actor(mut self, actor: impl Into<Arc<Actor>>) -> Self {
        self.actor = actor.into();
        self
    }

    /// Adds metadata for sessions that are created from here on, such as the folder to which they belong.
    #[must_use]
    pub fn with_metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), Value::String(value.into()));
        self
    }

    /// Makes sessions that are created from here on parts of another session of the actor. They are erased, deleted and removed by
    /// age with it.
    #[must_use]
    pub fn with_part_of(mut self, session: impl Into<String>) -> Self {
        self.whole = Some(session.into());
        self
    }

    /// Stores the events of turns, too, in the transactions of the state that they report. Each has the kind
    /// [`RecordedEvent::KIND`](crate::RecordedEvent::KIND) and the form of a [`RecordedEvent`](crate::RecordedEvent).
    #[must_use]
    pub fn with_events(mut self) -> Self {
        self.keeps_events = true;
        self
    }

    /// Sets what writes the sessions in place of the store, and receives the events of their turns with what they
    /// report. Reading is not affected.
    #[must_use]
    pub fn with_turn_log(mut self, log: Arc<dyn TurnLog>) -> Self {
        self.keeps_events = true;
        self.log = Some(log);
        self
    }

    /// Sets how long a turn waits for a store that cannot be reached when there is a reply of the model or a result of a tool to
    /// store; 30 s by default. Other calls continue meanwhile. After that, the turn fails with
    /// [`Storage`](crate::AgentErrorKind::Storage). The result is still in the memory of the handle then: the next
    /// [`resume`](crate::AgentSession::resume) on it stores the result first. Only when the process ends, it is unknown.
    ///
    /// What begins something, such as the input of a turn, is not waited for: nothing has happened yet.
    #[must_use]
    pub fn with_store_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }
}
