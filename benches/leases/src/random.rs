//! [`Random`]: numbers that depend only on a seed.

use std::ops::Range;

/// The pieces of work in a run, with their probabilities and mean or shortest and longest lengths in milliseconds.
const SHORT: (f64, f64) = (0.85, 400.0);
const MEDIUM: (f64, f64) = (0.14, 2_000.0);
const LONG: Range<f64> = 20_000.0..60_000.0;

/// The mean length of runs in milliseconds, with the pauses between their parts.
pub(crate) const MEAN_LENGTH: f64 = 0.85 * 400.0 + 0.14 * 2_000.0 + 0.01 * 40_000.0;

pub(crate) struct Random(fastrand::Rng);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(fastrand::Rng::with_seed(seed))
    }

    pub(crate) fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.0.f64() < probability
    }

    /// Returns the pause until the next event of those that happen this many times a second, in milliseconds.
    pub(crate) fn pause(&mut self, per_second: f64) -> f64 {
        self.exponential(1_000.0 / per_second)
    }

    pub(crate) fn between(&mut self, range: Range<f64>) -> f64 {
        range.start + self.0.f64() * (range.end - range.start)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0.usize(..limit.max(1))
    }

    /// Returns a priority: most runs have the usual one.
    pub(crate) fn priority(&mut self) -> i16 {
        match self.0.u8(..10) {
            0 => -1,
            9 => 1,
            _ => 0,
        }
    }

    /// Returns the length of a run in milliseconds: many are short, and a few are longer than a lease.
    pub(crate) fn length(&mut self) -> f64 {
        let kind = self.0.f64();
        if kind < SHORT.0 {
            self.exponential(SHORT.1)
        } else if kind < SHORT.0 + MEDIUM.0 {
            self.exponential(MEDIUM.1)
        } else {
            self.between(LONG)
        }
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.0.f64()).ln()
    }
}
