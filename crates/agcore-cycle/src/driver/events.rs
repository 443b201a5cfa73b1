//! [`EventSender`]: numbers the events of a turn and sends them to its observer.

use std::sync::Arc;

use agcore_chat::{EventKind, StreamEvent};

use crate::{machine::Machine, observer::Observer};

/// Sends the events of a turn to its observer, if it has one.
pub(super) struct EventSender<'a> {
    observer: Option<&'a Observer>,
    agent: &'a Arc<str>,
    /// The number of the next event of the turn.
    seq: &'a mut u64,
}

impl<'a> EventSender<'a> {
    pub(super) fn new(observer: Option<&'a Observer>, agent: &'a Arc<str>, seq: &'a mut u64) -> Self {
        Self { observer, agent, seq }
    }

    /// Returns whether anybody receives the events.
    pub(super) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Returns the number of events of this turn that were sent.
    pub(super) fn count(&self) -> u64 {
        *self.seq
    }

    /// Counts from zero again: a new turn starts.
    pub(super) fn restart(&mut self) {
        *self.seq = 0;
    }

    /// Sends an event of the current round and waits while the queue is full.
    pub(super) async fn send(&mut self, machine: &Machine, event: impl Into<EventKind>) {
        if self.is_observed() {
            self.push(machine.turn_index(), machine.round(), event.into());
            self.ready().await;
        }
    }

    /// Queues an event without waiting.
    pub(super) fn push(&mut self, turn: u32, round: u32, kind: EventKind) {
        if let Some(observer) = self.observer {
            observer.push(StreamEvent::new(*self.seq, Arc::clone(self.agent), turn, round, kind));
            *self.seq += 1;
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
