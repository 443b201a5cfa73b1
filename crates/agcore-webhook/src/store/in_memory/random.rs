//! [`Random`]: numbers that are hard to guess.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

/// Random numbers from the keys that the standard library chooses for hash maps. They are good enough to distinguish messages, and
/// guard nothing.
#[derive(Debug, Default)]
pub(super) struct Random {
    high: RandomState,
    low: RandomState,
    count: AtomicU64,
}

impl Random {
    /// Returns the number and the id of a new message.
    pub(super) fn message(&self) -> (u64, String) {
        let number = self.next();
        let (high, low) = (self.high.hash_one(number), self.low.hash_one(number));
        (number, format!("msg_{high:016x}{low:016x}"))
    }

    /// Returns a number from 0 to 1.
    pub(super) fn jitter(&self) -> f64 {
        let random = self.high.hash_one(self.next()) >> 32;
        f64::from(u32::try_from(random).unwrap_or(u32::MAX)) / f64::from(u32::MAX)
    }

    fn next(&self) -> u64 {
        self.count.fetch_add(1, Ordering::Relaxed)
    }
}
