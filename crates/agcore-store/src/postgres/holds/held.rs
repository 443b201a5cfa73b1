//! [`Held`]: the locks that a store has.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use agcore_chat::Timestamp;

use crate::sql::HoldForm;

/// The lock of one hold. Several holds of a store that share one are locks of the same key.
#[derive(Debug, Clone)]
pub(super) struct Lock {
    pub(super) key: i64,
    pub(super) form: HoldForm,
    pub(super) since: Timestamp,
    /// Identifies the hold as well.
    pub(super) is_lost: Arc<AtomicBool>,
}

/// Locks by their keys. All locks of a key are shared, or there is only one.
#[derive(Debug, Default)]
pub(super) struct Held(HashMap<i64, Vec<Lock>>);

impl Lock {
    /// Returns the parts of a second lock, by the time.
    pub(super) fn halves(&self) -> (i32, i32) {
        let seconds = self.since.as_millis().div_euclid(1000);
        // The server keeps both halves as numbers without a sign.
        ((self.key >> 32) as i32, seconds as i32)
    }
}

impl Held {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a lock that excludes another one.
    pub(super) fn excluding(&self, wanted: &Lock) -> Option<&Lock> {
        let first = self.0.get(&wanted.key)?.first()?;
        let is_shared = (first.form, wanted.form) == (HoldForm::Shared, HoldForm::Shared);
        (!is_shared).then_some(first)
    }

    pub(super) fn insert(&mut self, lock: Lock) {
        self.0.entry(lock.key).or_default().push(lock);
    }

    /// Removes a lock. Returns whether it was there.
    pub(super) fn remove(&mut self, lock: &Lock) -> bool {
        let Some(locks) = self.0.get_mut(&lock.key) else {
            return false;
        };
        let count = locks.len();
        locks.retain(|held| !Arc::ptr_eq(&held.is_lost, &lock.is_lost));
        let is_removed = locks.len() < count;
        if locks.is_empty() {
            self.0.remove(&lock.key);
        }
        is_removed
    }

    /// Removes a lock that another store has in the meantime.
    pub(super) fn lose(&mut self, lock: &Lock) {
        lock.is_lost.store(true, Ordering::Relaxed);
        self.remove(lock);
    }

    /// Returns all locks.
    pub(super) fn all(&self) -> Vec<Lock> {
        self.0.values().flatten().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_fit_into_half_a_lock() {
        let lock = Lock {
            key: -1,
            form: HoldForm::Alone,
            since: Timestamp::from_millis(4_102_444_800_000),
            is_lost: Arc::default(),
        };
        let (_, seconds) = lock.halves();
        assert_eq!(seconds as u32, 4_102_444_800);
    }
}
