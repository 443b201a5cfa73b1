//! [`CompactionBreaker`]: stops compactions that do not help.

use serde::{Deserialize, Serialize};

/// Stops compactions that do not help: it opens when three in a row freed nothing or failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompactionBreaker(u32);

impl CompactionBreaker {
    /// In a row, and no more are tried.
    const LIMIT: u32 = 3;

    /// Notes a compaction that freed so many tokens; one that failed freed none.
    pub fn record(&mut self, freed: u64) {
        self.0 = if freed > 0 { 0 } else { self.0.saturating_add(1) };
    }

    /// Whether no more compactions are tried.
    pub fn is_open(self) -> bool {
        self.0 >= Self::LIMIT
    }

    /// Closes it: the history was shortened otherwise, or a turn is over.
    pub fn close(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_breaker_opens_at_three_and_closes() {
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
