//! [`CompactionBreaker`]: a circuit breaker for compactions that do not help.

use serde::{Deserialize, Serialize};

/// A circuit breaker for compactions. It opens after three consecutive compactions that freed nothing or failed.
///
/// ```
/// use agcore_chat::CompactionBreaker;
///
/// let mut breaker = CompactionBreaker::default();
/// for freed_tokens in [0, 0, 0] {
///     breaker.record(freed_tokens);
/// }
/// assert!(breaker.is_open());
/// breaker.close();
/// assert!(!breaker.is_open());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompactionBreaker(u32);

impl CompactionBreaker {
    /// The number of consecutive useless compactions that opens the breaker.
    const LIMIT: u32 = 3;

    /// Records the number of tokens that a compaction freed: 0 for one that failed.
    pub fn record(&mut self, freed: u64) {
        self.0 = if freed > 0 { 0 } else { self.0.saturating_add(1) };
    }

    /// Returns whether the breaker is open, so that no compaction should be tried.
    pub fn is_open(self) -> bool {
        self.0 >= Self::LIMIT
    }

    /// Closes the breaker, after the history was shortened in another way or a turn has ended.
    pub fn close(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_three_useless_compactions() {
        let mut breaker = CompactionBreaker::default();
        for freed in [0, 0, 5, 0, 0] {
            breaker.record(freed);
            assert!(!breaker.is_open());
        }
        breaker.record(0);
        assert!(breaker.is_open());
        breaker.close();
        assert!(!breaker.is_open());
    }
}
