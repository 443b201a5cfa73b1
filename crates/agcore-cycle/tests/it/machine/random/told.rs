//! [`Told`]: whether the events of a turn come in order.

use std::collections::HashMap;

use agcore_chat::{EventKind, PersonEvent, TextEvent, ToolEvent, TurnEvent};

/// What was told of the newest turn.
#[derive(Debug, Default)]
pub(super) struct Told {
    begun: bool,
    complete: bool,
    /// By call: whether it was told to be complete.
    calls: HashMap<String, bool>,
}

impl Told {
    pub(super) fn event(&mut self, event: &EventKind) {
        if let EventKind::Turn(TurnEvent::Started(_)) = event {
            assert!(!self.begun || self.complete, "a turn begins in another");
            *self = Self {
                begun: true,
                ..Self::default()
            };
            return;
        }
        // A compaction by hand is no part of a turn.
        if self.complete && matches!(event, EventKind::Context(_) | EventKind::Model(_)) {
            return;
        }
        assert!(
            self.begun && !self.complete,
            "nothing comes before the start or after the end: {event:?}"
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
                    "{call_id} starts twice"
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
