//! [`ProgressFilters`]: edit the progress of a call before observers receive it.

use std::sync::{Arc, Mutex, PoisonError};

use agcore_chat::Progress;

/// Edits progress before observers receive it.
pub(crate) type ProgressFilter = Arc<dyn Fn(&mut Progress) + Send + Sync>;

/// The filters of a call, the outermost first.
#[derive(Default)]
pub(super) struct ProgressFilters(Mutex<Vec<ProgressFilter>>);

impl ProgressFilters {
    /// Adds a filter inside those that were added before, unless it is there already.
    pub(super) fn add(&self, filter: &ProgressFilter) {
        let mut filters = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !filters.iter().any(|known| Arc::ptr_eq(known, filter)) {
            filters.push(Arc::clone(filter));
        }
    }

    /// Passes progress through all filters, from the inside out.
    pub(super) fn apply(&self, progress: &mut Progress) {
        // A filter may report progress itself, so the lock is not held.
        let filters = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for filter in filters.iter().rev() {
            filter(progress);
        }
    }
}
