//! [`Nested`] and its recorder: the place of a sub-agent whose records are in the stream of the session in which it works.

use std::sync::Arc;

use agcore_chat::ModelCall;
use agcore_session::{NewSession, SessionError, Timestamp};

use super::{Nested, SessionRecorder};
use crate::durable::{
    recorded_event::EventLog,
    rows::Place,
    session_log::{Continued, Report},
    turn_log::TurnCommit,
};

impl Nested {
    /// Adds a commit of the sub-agent to the session.
    pub(super) async fn append(&self, turn: TurnCommit, calls: Vec<ModelCall>) -> Result<(), SessionError> {
        if !turn.events.is_empty() {
            // Deltas belong before what is recorded. After this, the turn above has received them.
            tokio::task::yield_now().await;
            for observer in &self.above {
                observer.delivered().await;
            }
        }
        self.root.append_events(turn.commit.records, turn.events, calls).await
    }
}

impl SessionRecorder {
    /// Creates the recorder of a sub-agent that works in a call of this session.
    pub(super) fn of_sub_agent(
        self: &Arc<Self>,
        path: String,
        start: u64,
        report: Option<Report>,
        writer: String,
        continued: &Continued<'_>,
    ) -> Self {
        let root = self.nested.as_ref().map_or(self, |nested| &nested.root);
        let mut session = NewSession::new(root.stream.session.as_str()).create(Timestamp::default());
        session.owner.tenant = root.stream.tenant.as_str().into();
        let (sink, clock) = (root.stream.sink.clone(), Arc::clone(&root.clock));
        let events = report.as_ref().filter(|_| root.events.is_some());
        let events = events.map(|report| EventLog::new(&report.agent).of_call(&report.call));
        let above = self.nested.iter().flat_map(|nested| nested.above.iter().cloned());
        let nested = Nested {
            root: Arc::clone(root),
            path,
            start,
            above: report
                .and_then(|report| report.observer)
                .into_iter()
                .chain(above)
                .collect(),
        };
        Self {
            nested: Some(nested),
            events,
            billing: root.billing.clone(),
            patience: root.patience,
            ..Self::new(sink, clock, &session, writer, continued)
        }
    }

    /// Returns the id of the reply in a record. That of a sub-agent is unique in the session, too.
    pub(super) fn message_id(&self, record: u64) -> String {
        match &self.nested {
            None => Place { record, index: 0 }.id(),
            Some(nested) => format!("{}:{}", nested.path, nested.start + record),
        }
    }
}
