//! Settling what a turn has used when its future is dropped.

use super::context::Driver;
use crate::machine::Outcome;

/// Dropping the future of a turn cancels it, but what was sent is paid: counts the call in flight and the time.
impl Drop for Driver<'_> {
    fn drop(&mut self) {
        if let Some(staged) = self.staged.take() {
            // Their record was not started. Decisions did not take place, but what was used was used.
            staged.into_facts().for_each(|outcome| self.absorb_dropped(outcome));
        }
        let (spent, lost, calls) = self.flight.take_dropped(&mut self.spending, self.response.as_deref());
        for call in calls {
            self.absorb_dropped(Outcome::Called(Box::new(call)));
        }
        if let Some(lost) = lost.into_tracker() {
            self.absorb_dropped(Outcome::Lost(Box::new(lost)));
        }
        for spent in [spent, self.spending.take_time()].into_iter().flatten() {
            self.absorb_dropped(Outcome::Spent(spent));
        }
    }
}

impl Driver<'_> {
    /// Reports an outcome of a turn that was dropped. Its events are not sent.
    fn absorb_dropped(&mut self, outcome: Outcome) {
        if !self.unrecorded.is_empty() {
            // A record is being written that the machine has not absorbed yet: this comes after it.
            self.unrecorded.absorb_later(outcome);
            return;
        }
        match self.machine.absorb(outcome.clone()) {
            Ok(_) => self.unrecorded.record_later(outcome),
            Err(error) => tracing::error!(%error, "what a dropped turn has used could not be counted"),
        }
    }
}
