//! The holds that were taken through a [`FaultyStore`](super::FaultyStore): the end of its process releases them.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use agcore_session::{Hold, HoldGuard};

/// A hold that can be released early.
type Shared = Mutex<Option<Hold>>;

/// The holds that were taken.
#[derive(Debug, Default)]
pub(super) struct Holds(Mutex<Vec<Weak<Shared>>>);

struct Guard(Arc<Shared>);

impl HoldGuard for Guard {
    fn is_lost(&self) -> bool {
        let hold = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hold.as_ref().is_none_or(Hold::is_lost)
    }
}

impl Holds {
    pub(super) fn keep(&self, hold: Hold) -> Hold {
        let shared = Arc::new(Mutex::new(Some(hold)));
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|hold| hold.strong_count() > 0);
        all.push(Arc::downgrade(&shared));
        Hold::new(Guard(shared))
    }

    /// Releases all holds.
    pub(super) fn release_all(&self) {
        let all = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for hold in all.iter().filter_map(Weak::upgrade) {
            hold.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}
