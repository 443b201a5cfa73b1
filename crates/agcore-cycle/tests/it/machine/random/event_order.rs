//! [`EventOrder`]: checks that the events of a turn are in order.

use std::collections::{HashMap, HashSet};

use agcore_chat::{EventKind, PersonEvent, TextEvent, ToolEvent, TurnEvent};

/// The events of the newest turn so far.
#[derive(Debug, Default)]
pub(super) struct EventOrder {
    started: bool,
    complete: bool,
    /// Whether each call that was requested was reported as completed.
    calls: HashMap<String, bool>,
    /// The calls whose tools have started to run them.
    ran: HashSet<String>,
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
                assert!(open.is_empty(), "requested and never completed: {open:?}");
                self.complete = true;
            }
            EventKind::Text(TextEvent::MessageComplete(_)) => {
                assert!(
                    self.calls.values().all(|complete| *complete),
                    "a reply in the middle of a round"
                );
            }
            EventKind::Tool(ToolEvent::Requested { call_id, .. }) => {
                assert_eq!(
                    self.calls.insert(call_id.to_string(), false),
                    None,
                    "{call_id} was requested twice"
                );
            }
            EventKind::Tool(ToolEvent::Started { call_id, .. }) => {
                assert_eq!(self.calls.get(&**call_id), Some(&false), "{call_id} was not requested");
                self.ran.insert(call_id.to_string());
            }
            EventKind::Tool(ToolEvent::Repeated { call_id, .. }) => {
                assert!(self.ran.contains(&**call_id), "{call_id} runs again but never ran");
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
