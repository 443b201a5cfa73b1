//! [`Account`]: what a conversation has spent of its budgets.

use super::state::Machine;
use crate::budget::Spent;

/// What a conversation has spent of its budgets so far.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Account<'m> {
    /// By the open turn, if there is one.
    pub(crate) turn: Option<&'m Spent>,
    /// By all turns.
    pub(crate) all: &'m Spent,
}

impl Machine {
    /// Returns what was spent so far.
    pub(crate) fn account(&self) -> Account<'_> {
        Account {
            turn: self.turn_spent().filter(|_| self.is_open()),
            all: self.spent(),
        }
    }
}
