//! [`Fork`]: a copy of a machine that absorbs outcomes before they are recorded.

use agcore_chat::ToolWork;

use super::{
    changes::{Changes, MachineError},
    outcome::Outcome,
    state::{Account, Machine},
};

/// A copy of a machine that can absorb outcomes while the machine exists, without copying the history. It replaces the machine
/// with [`Machine::join`], or is dropped.
///
/// Its history is in two parts until then. So it does not offer what reads the conversation: neither
/// [`next`](Machine::next) nor [`history`](Machine::history).
pub(crate) struct Fork(Machine);

impl Machine {
    /// Returns a fork of this machine.
    pub(crate) fn fork(&self) -> Fork {
        let mut fork = self.clone();
        fork.history = fork.history.fork();
        Fork(fork)
    }

    /// Replaces this machine by its [fork](Self::fork).
    pub(crate) fn join(&mut self, fork: Fork) {
        *self = fork.0;
        self.history.join();
    }
}

impl Fork {
    /// Like [`Machine::absorb_at`].
    pub(crate) fn absorb_at(&mut self, outcome: Outcome, changes: &mut Changes) -> Result<(u32, u32), MachineError> {
        self.0.absorb_at(outcome, changes)
    }

    /// Returns the calls that can start now, if that is the next step.
    pub(crate) fn ready(&self) -> Vec<ToolWork> {
        self.0.ready()
    }

    /// Returns what was spent so far.
    pub(crate) fn account(&self) -> Account<'_> {
        self.0.account()
    }
}
