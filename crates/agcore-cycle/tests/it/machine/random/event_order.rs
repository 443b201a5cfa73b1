//! [`EventOrder`]: checks that the events of a turn are in order.

use std::collections::HashMap;

use agcore_chat::{EventKind, PersonEvent, TextEvent, ToolEvent, TurnEvent};

/// The events of the newest turn so far.
#[derive(Debug, Default)]
pub(super) struct EventOrder {
    started: bool,
    complete: bool,
    /// Whether each call was reported as completed.
    calls: HashMap<String, bool>,
}

impl EventOrder {
    pub(super) fn check(&mut self, event: &EventKind) {
        if let EventKind::Turn(TurnEvent::Started(_)) = event {
            assert!(!self.started || self.complete, "a turn started within another");
            *self = Self {
                started: true,
                ..Self::default()
            };
            return;
        }
        // A requested compaction is not part of a turn.
        if self.complete && matches!(event, EventKind::Context(_) | EventKind::Model(_)) {
            return;
        }
        assert!(
            self.started && !self.complete,
            "an event before the start or after the end: {event:?}"
        );
        match event {
            EventKind::Turn(TurnEvent::Complete { .. }) => {
                let open: Vec<_> = self.calls.iter().filter(|(_, complete)| !**complete).collect();
                assert!(open.is_empty(), "started and never completed: {open:?}");
                self.complete = true;
            }
            EventKind::Text(TextEvent::MessageComplete(_)) => {
                assert!(
                    self.calls.values().all(|complete| *complete),
                    "a reply in the middle of a round"
                );
            }
            EventKind::Tool(ToolEvent::Started { call_id, .. }) => {
                assert_eq!(
                    self.calls.insert(call_id.to_string(), false),
                    None,
                    "{call_id} started twice"
                );
            }
            EventKind::Tool(ToolEvent::Completed { call_id, .. }) => {
                assert_eq!(self.calls.insert(call_id.to_string(), true), Some(false), "{call_id}");
            }
            EventKind::Person(PersonEvent::Asked(question)) => {
                assert_eq!(self.calls.get(&*question.call_id), Some(&false));
            }
            _ => {}
        }
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }
}
