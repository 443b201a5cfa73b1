//! [`Driver`]: what a run of a turn works with.

use std::{sync::Arc, time::Duration};

use agcore_chat::{ChatResponse, Clock, EventKind, StreamEvent};
use serde_json::Value;

use crate::{
    compact::{CompactionReport, Gauge},
    cycle::{
        machine::{Changes, Machine, Misuse, Outcome, Purpose},
        observer::Observer,
        options::{CycleSettings, TurnOptions},
    },
    error::{LlmError, LlmErrorKind},
    hooks::Hooks,
    provider::LlmProvider,
    typed::Form,
};

pub(in crate::cycle) struct Driver<'a> {
    pub(in crate::cycle) provider: &'a dyn LlmProvider,
    pub(in crate::cycle) clock: &'a dyn Clock,
    pub(in crate::cycle) hooks: &'a Hooks,
    pub(in crate::cycle) settings: &'a CycleSettings,
    pub(in crate::cycle) machine: &'a mut Machine,
    /// Whether hooks were told of the turn's start and not yet of its end.
    pub(in crate::cycle) turn_end_owed: &'a mut bool,
    pub(in crate::cycle) options: TurnOptions,
    pub(in crate::cycle) observer: Option<&'a Observer>,
    /// Counts the events of the turn.
    pub(in crate::cycle) seq: &'a mut u64,
    pub(in crate::cycle) gauge: &'a mut Gauge,
    /// Up to when time was counted.
    pub(in crate::cycle) counted_until: Duration,
    /// Whether a compaction was tried for the request that comes next.
    pub(in crate::cycle) compacted: bool,
    /// Tokens of the request of which the model said that it is too long.
    pub(in crate::cycle) too_long: Option<u64>,
    /// What the compactions of this run came to.
    pub(in crate::cycle) report: CompactionReport,
    /// The last reply.
    pub(in crate::cycle) response: Option<ChatResponse>,
    /// What the machine knows as a fault, in full.
    pub(in crate::cycle) error: Option<LlmError>,
    /// Room for what the machine changed.
    pub(in crate::cycle) changes: Changes,
    /// The typed output that is asked for.
    pub(in crate::cycle) form: Option<Form>,
    /// The value that was accepted.
    pub(in crate::cycle) output: Option<Value>,
}

impl<'a> Driver<'a> {
    /// Tells the machine, and observers what it changed. The machine is told at once, and not when the future is polled: it
    /// would have room for the outcome, which is large.
    pub(super) fn absorb(&mut self, outcome: Outcome) -> impl Future<Output = Result<(), LlmError>> {
        let told = self.take_in(outcome);
        async {
            told.map_err(misuse)?;
            self.room().await;
            Ok(())
        }
    }

    /// As [`absorb`](Self::absorb), for outcomes that the machine may refuse.
    pub(super) fn try_absorb(&mut self, outcome: Outcome) -> impl Future<Output = Result<(), Misuse>> {
        let told = self.take_in(outcome);
        async {
            told?;
            self.room().await;
            Ok(())
        }
    }

    fn take_in(&mut self, outcome: Outcome) -> Result<(), Misuse> {
        // Events of a round belong to the round in which they happened, not to the next.
        let (turn, round) = (self.machine.turn_index(), self.machine.round());
        let begins = matches!(outcome, Outcome::Begun(_));
        let mut changes = std::mem::take(&mut self.changes);
        changes.clear();
        self.machine.absorb_into(outcome, &mut changes)?;
        let (turn, round) = if begins {
            (self.machine.turn_index(), 0)
        } else {
            (turn, round)
        };
        for event in changes.events.drain(..) {
            if let EventKind::Context(event) = &event {
                self.report.note(event);
            }
            self.push(turn, round, event);
        }
        self.changes = changes;
        Ok(())
    }

    pub(super) async fn tell(&mut self, event: impl Into<EventKind>) {
        if self.observer.is_some() {
            self.push(self.machine.turn_index(), self.machine.round(), event.into());
            self.room().await;
        }
    }

    fn push(&mut self, turn: u32, round: u32, kind: EventKind) {
        if let Some(observer) = self.observer {
            observer.push(StreamEvent::new(
                *self.seq,
                Arc::clone(&self.settings.agent),
                turn,
                round,
                kind,
            ));
            *self.seq += 1;
        }
    }

    async fn room(&self) {
        if let Some(observer) = self.observer {
            observer.room().await;
        }
    }

    /// Who is asked.
    pub(super) fn provider_for(&self, purpose: Purpose) -> &'a dyn LlmProvider {
        match &self.settings.compaction.provider {
            Some(provider) if purpose == Purpose::Summary => &**provider,
            _ => self.provider,
        }
    }
}

/// The driver and the machine disagree, or the caller's input does not fit the state.
pub(super) fn misuse(misuse: Misuse) -> LlmError {
    LlmError::new(LlmErrorKind::InvalidRequest, misuse.to_string()).with_source(misuse)
}
