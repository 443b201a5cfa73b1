//! [`Record`]: reports outcomes to the machine: recorded first, if there is a recorder, then absorbed, then sent to the observer.

use std::sync::Arc;

use agcore_chat::{EventKind, ToolOutcome};

use super::{
    environment::{Environment, Scene},
    events::EventSender,
    settled::Settled,
    typed_turn::TypedTurn,
};
use crate::{
    compact::CompactionReport,
    error::CycleError,
    machine::{Changes, Fork, Limits, Machine, MachineError, Outcome},
    recorder::{OutcomeRecorder, RecordedReply, Unrecorded, storage_error},
};

/// The state of a turn, and what happens to each outcome that changes it.
pub(super) struct Record<'a> {
    machine: &'a mut Machine,
    events: EventSender<'a>,
    recorder: Option<Arc<dyn OutcomeRecorder>>,
    /// The outcomes that the recorder must keep before the machine absorbs them.
    unrecorded: &'a mut Unrecorded,
    /// The state with outcomes that are not recorded yet.
    staged: Option<Box<Staged>>,
    /// Reused by every outcome, so that its buffer is allocated once.
    changes: Changes,
    /// The results of the compactions of this run.
    report: CompactionReport,
}

/// Outcomes that are not recorded yet, and what they change.
struct Staged {
    /// The machine after them.
    machine: Fork,
    outcomes: Vec<Outcome>,
    /// Their events, with turn and round.
    events: Vec<(u32, u32, EventKind)>,
}

impl<'a> Record<'a> {
    pub(super) fn new(
        machine: &'a mut Machine,
        events: EventSender<'a>,
        recorder: Option<Arc<dyn OutcomeRecorder>>,
        unrecorded: &'a mut Unrecorded,
    ) -> Self {
        Self {
            changes: Changes::new(!events.is_observed() && recorder.is_none()),
            machine,
            events,
            recorder,
            unrecorded,
            staged: None,
            report: CompactionReport::default(),
        }
    }

    /// Returns the state of the turn.
    pub(super) fn machine(&self) -> &Machine {
        self.machine
    }

    pub(super) fn events(&self) -> &EventSender<'a> {
        &self.events
    }

    pub(super) fn recorder(&self) -> Option<&Arc<dyn OutcomeRecorder>> {
        self.recorder.as_ref()
    }

    /// Returns the turn as it is now.
    pub(super) fn scene<'s>(&'s self, environment: &'s Environment<'s>, typed: Option<&'s TypedTurn>) -> Scene<'s> {
        Scene {
            environment,
            machine: self.machine,
            events: &self.events,
            typed,
        }
    }

    /// Starts the events of a new turn.
    pub(super) fn restart_events(&mut self) {
        self.events.restart();
    }

    /// Gives the events that follow the id under which a reply is recorded.
    pub(super) fn name_reply(&mut self, reply: RecordedReply) {
        if self.events.is_observed()
            && let Some(recorder) = &self.recorder
        {
            self.events.set_message(recorder.reply_id(reply));
        }
    }

    /// Starts the report of a compaction that was asked for.
    pub(super) fn start_report(&mut self, tokens: u64) {
        self.report = CompactionReport::new(tokens);
    }

    /// Takes the report of the compactions of this run.
    pub(super) fn take_report(&mut self) -> CompactionReport {
        std::mem::take(&mut self.report)
    }

    /// Reports an outcome to the machine, and what it changed to the observer. The machine absorbs the outcome at once, not
    /// when the future is polled, unless it must be recorded first: otherwise the future would store the outcome, which is
    /// large.
    pub(super) fn absorb(&mut self, outcome: Outcome) -> impl Future<Output = Result<(), CycleError>> {
        let absorbed = self.stage(outcome);
        async {
            absorbed?;
            self.commit().await
        }
    }

    /// Makes the limits of the settings those of the machine.
    pub(super) async fn set_limits(&mut self, limits: &Limits) -> Result<(), CycleError> {
        if self.machine.limits() == limits {
            return Ok(());
        }
        self.absorb(Outcome::Limits(limits.clone())).await
    }

    /// Like [`absorb`](Self::absorb), for several outcomes that are recorded together: [`commit`](Self::commit) ends them.
    pub(super) fn stage(&mut self, outcome: Outcome) -> Result<(), MachineError> {
        if self.recorder.is_none() {
            return self.apply(outcome);
        }
        let mut staged = self.staged.take().unwrap_or_else(|| {
            Box::new(Staged {
                machine: self.machine.fork(),
                outcomes: Vec::new(),
                events: Vec::new(),
            })
        });
        // An outcome that does not fit must not be recorded. The machine stays as it was.
        let changed = staged.machine.absorb_at(outcome.clone(), &mut self.changes);
        if let Ok((turn, round)) = changed {
            let events = self.changes.events.drain(..).map(|event| (turn, round, event));
            staged.events.extend(events);
            staged.outcomes.push(outcome);
        }
        if !staged.outcomes.is_empty() {
            self.staged = Some(staged);
        }
        changed.map(drop)
    }

    /// Stages the end of a call. An outcome that the machine rejects becomes an error result: every call must end.
    pub(super) fn stage_end(&mut self, settled: Settled) -> Result<(), MachineError> {
        let duration_us = u64::try_from(settled.duration.as_micros()).unwrap_or(u64::MAX);
        let outcome = |outcome| Outcome::Tool {
            call: settled.call.clone(),
            outcome,
            duration_us,
            input: settled.input.clone(),
        };
        if let Err(rejected) = self.stage(outcome(settled.outcome)) {
            let message = format!("The tool ended in a way that cannot be used: {rejected}.");
            self.stage(outcome(ToolOutcome::error(message)))?;
        }
        Ok(())
    }

    /// Returns the machine after the outcomes that are not recorded yet, if there are any.
    pub(super) fn staged_machine(&self) -> Option<&Fork> {
        self.staged.as_ref().map(|staged| &staged.machine)
    }

    /// Waits until all outcomes are recorded, if they have to be, and until the observer can accept more events.
    pub(super) async fn commit(&mut self) -> Result<(), CycleError> {
        if self.staged.is_some() {
            // Boxed because it is rarely needed.
            Box::pin(self.record()).await?;
        }
        self.events.ready().await;
        Ok(())
    }

    async fn record(&mut self) -> Result<(), CycleError> {
        let (Some(staged), Some(recorder)) = (self.staged.take(), &self.recorder) else {
            return Ok(());
        };
        let events = staged.events.iter().map(|(_, _, event)| event.clone()).collect();
        self.unrecorded.set(staged.outcomes, events);
        self.unrecorded.settle(recorder).await.map_err(storage_error)?;
        self.machine.join(staged.machine);
        for (turn, round, event) in staged.events {
            self.send_event(turn, round, event);
        }
        Ok(())
    }

    /// Absorbs what an earlier run has left unrecorded: it was dropped while it recorded, or the recorder failed.
    pub(super) async fn absorb_unrecorded(&mut self) -> Result<(), CycleError> {
        self.unrecorded.is_active = self.recorder.is_some();
        if !self.unrecorded.is_empty() || self.unrecorded.is_writing() {
            self.absorb_pending().await?;
        }
        let later = self.unrecorded.take_later();
        for outcome in later {
            if let Err(error) = self.stage(outcome) {
                tracing::warn!(%error, "what a dropped turn has used could not be counted");
            }
        }
        self.commit().await
    }

    async fn absorb_pending(&mut self) -> Result<(), CycleError> {
        let outcomes = match &self.recorder {
            Some(recorder) => {
                // Decisions of a dropped turn that could not be recorded did not take place.
                let settled = self.unrecorded.settle(recorder).await;
                if settled.is_err() && self.unrecorded.is_empty() {
                    return Ok(());
                }
                settled.map_err(storage_error)?
            }
            None => self.unrecorded.take_outcomes(),
        };
        for outcome in outcomes.iter() {
            if let Err(error) = self.apply(outcome.clone()) {
                tracing::warn!(%error, "the state has changed since this outcome was recorded");
            }
        }
        Ok(())
    }

    /// Reports what a turn that was dropped has used. Its events are not sent. Outcomes whose record was not started come
    /// first: decisions did not take place, but what was used was used.
    pub(super) fn absorb_dropped(&mut self, used: impl Iterator<Item = Outcome>) {
        let staged = self.staged.take().map(|staged| staged.outcomes).unwrap_or_default();
        let facts = staged.into_iter().filter(|outcome| !outcome.is_decision());
        for outcome in facts.chain(used) {
            if !self.unrecorded.is_empty() {
                // A record is being written that the machine has not absorbed yet: this comes after it.
                self.unrecorded.absorb_later(outcome);
                continue;
            }
            match self.machine.absorb(outcome.clone()) {
                Ok(_) => self.unrecorded.record_later(outcome),
                Err(error) => tracing::error!(%error, "what a dropped turn has used could not be counted"),
            }
        }
    }

    fn apply(&mut self, outcome: Outcome) -> Result<(), MachineError> {
        let mut changes = std::mem::take(&mut self.changes);
        let absorbed = self.machine.absorb_at(outcome, &mut changes);
        if let Ok((turn, round)) = absorbed {
            for event in changes.events.drain(..) {
                self.send_event(turn, round, event);
            }
        }
        self.changes = changes;
        absorbed.map(drop)
    }

    fn send_event(&mut self, turn: u32, round: u32, event: EventKind) {
        if let EventKind::Context(event) = &event {
            self.report.record(event);
        }
        self.events.push(turn, round, event);
    }
}
