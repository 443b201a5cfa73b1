//! [`EventSender`]: numbers the events of a turn and sends them to its observer.

use std::sync::Arc;

use agcore_chat::{EventKind, StreamEvent};

use crate::{machine::Machine, observer::Observer};

/// Sends the events of a turn to its observer, if it has one.
pub(super) struct EventSender<'a> {
    observer: Option<&'a Observer>,
    agent: &'a Arc<str>,
    /// The number of the next event of the turn, for the next run. While there is an observer, it counts.
    seq: &'a mut u64,
    /// The id of the reply to which events belong.
    message: Option<Arc<str>>,
}

impl<'a> EventSender<'a> {
    pub(super) fn new(observer: Option<&'a Observer>, agent: &'a Arc<str>, seq: &'a mut u64) -> Self {
        if let Some(observer) = observer {
            observer.continue_from(*seq);
        }
        Self {
            observer,
            agent,
            seq,
            message: None,
        }
    }

    /// Returns whether anybody receives the events.
    pub(super) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Returns the number of events of this turn that were sent.
    pub(super) fn count(&self) -> u64 {
        self.observer.map_or(*self.seq, Observer::next)
    }

    /// Counts from zero again: a new turn starts.
    pub(super) fn restart(&mut self) {
        *self.seq = 0;
        if let Some(observer) = self.observer {
            observer.restart();
        }
    }

    /// Sets the id of the reply to which the events belong that follow.
    pub(super) fn set_message(&mut self, id: Option<Arc<str>>) {
        self.message = id;
    }

    /// Queues an event of the current round without waiting.
    pub(super) fn push_current(&self, machine: &Machine, event: impl Into<EventKind>) {
        if self.is_observed() {
            self.push(machine.turn_index(), machine.round(), event.into());
        }
    }

    /// Queues an event without waiting.
    pub(super) fn push(&self, turn: u32, round: u32, kind: EventKind) {
        if let Some(observer) = self.observer {
            let belongs_to_reply = matches!(kind, EventKind::Text(_) | EventKind::Tool(_) | EventKind::Model(_));
            let mut event = StreamEvent::new(0, Arc::clone(self.agent), turn, round, kind);
            if belongs_to_reply {
                event.message.clone_from(&self.message);
            }
            observer.push(event);
        }
    }

    /// Waits while the queue is full.
    pub(super) async fn ready(&self) {
        if let Some(observer) = self.observer {
            observer.ready().await;
        }
    }

    /// Waits until the observer has received all events.
    pub(super) async fn drained(&self) {
        if let Some(observer) = self.observer {
            observer.drained().await;
        }
    }
}

impl Drop for EventSender<'_> {
    fn drop(&mut self) {
        *self.seq = self.count();
    }
}
