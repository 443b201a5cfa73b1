//! [`Unasked`]: changes of files that were made without a question, to be shown afterwards.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::change::Change;

/// The differences by call, or `None` if no terminal shows them.
#[derive(Debug, Default)]
pub(super) struct Unasked(Mutex<Option<HashMap<String, String>>>);

impl Unasked {
    /// Keeps the changes from now on. Each must be taken.
    pub(super) fn keep(&self) {
        self.differences().get_or_insert_default();
    }

    /// Returns the unified difference that a call made without a question.
    pub(super) fn take(&self, call_id: &str) -> Option<String> {
        self.differences().as_mut()?.remove(call_id)
    }

    /// Remembers a change that a call made.
    pub(super) fn record(&self, call_id: &str, change: &Change) {
        if let Some(differences) = self.differences().as_mut() {
            differences.insert(call_id.to_owned(), change.diff());
        }
    }

    fn differences(&self) -> MutexGuard<'_, Option<HashMap<String, String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
