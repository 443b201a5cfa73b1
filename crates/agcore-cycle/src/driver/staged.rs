//! [`Staged`]: outcomes that are not recorded yet.

use agcore_chat::EventKind;

use crate::machine::{Fork, Outcome};

/// Outcomes that are not recorded yet, and what they change.
pub(super) struct Staged {
    /// The machine after them.
    pub(super) machine: Fork,
    pub(super) outcomes: Vec<Outcome>,
    /// Their events, with turn and round.
    pub(super) events: Vec<(u32, u32, EventKind)>,
}

impl Staged {
    /// Returns the outcomes that are not decisions.
    pub(super) fn into_facts(self) -> impl Iterator<Item = Outcome> {
        self.outcomes.into_iter().filter(|outcome| !outcome.is_decision())
    }
}
