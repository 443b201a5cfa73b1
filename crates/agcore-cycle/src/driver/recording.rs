//! Reporting outcomes to the machine: recorded first, if there is a recorder, then absorbed, then sent to the observer.

use agcore_chat::EventKind;

use super::{context::Driver, staged::Staged};
use crate::{
    error::CycleError,
    machine::{MachineError, Outcome},
    recorder::storage_error,
};

impl Driver<'_> {
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
            self.compactor.record(event);
        }
        self.events.push(turn, round, event);
    }
}
