//! [`Unasked`]: changes of files that are to be shown after they were made.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::change::{Change, FileEdit};

/// The differences of changes without a question, by call, and those of all changes, or `None` if they are not shown.
#[derive(Debug, Default)]
pub(super) struct Unasked {
    differences: Kept<String>,
    edits: Kept<FileEdit>,
}

impl Unasked {
    /// Keeps the differences of changes without a question from now on. Each must be taken.
    pub(super) fn keep(&self) {
        self.differences.keep();
    }

    /// Keeps all changes from now on, with both texts. Each must be taken.
    pub(super) fn keep_edits(&self) {
        self.edits.keep();
    }

    /// Returns the unified difference that a call made without a question.
    pub(super) fn take(&self, call_id: &str) -> Option<String> {
        self.differences.take(call_id)
    }

    /// Returns the change that a call made.
    pub(super) fn take_edit(&self, call_id: &str) -> Option<FileEdit> {
        self.edits.take(call_id)
    }

    /// Remembers a change that a call made without a question.
    pub(super) fn record(&self, call_id: &str, change: &Change) {
        self.differences.record(call_id, || change.diff());
    }

    /// Remembers a change that a call made.
    pub(super) fn record_edit(&self, call_id: &str, edit: impl FnOnce() -> FileEdit) {
        self.edits.record(call_id, edit);
    }
}

/// Values by call, or `None` if nothing takes them.
#[derive(Debug)]
struct Kept<T>(Mutex<Option<HashMap<String, T>>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> Kept<T> {
    fn keep(&self) {
        self.lock().get_or_insert_default();
    }

    fn take(&self, call_id: &str) -> Option<T> {
        self.lock().as_mut()?.remove(call_id)
    }

    fn record(&self, call_id: &str, value: impl FnOnce() -> T) {
        if let Some(values) = self.lock().as_mut() {
            values.insert(call_id.to_owned(), value());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<HashMap<String, T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
