//! [`ToolStatistics`]: how often a tool was called, how often it failed, and how long it took.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use serde::Serialize;

/// How a tool has done since it was registered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolStatistics {
    /// Calls that ran to an end, good or bad.
    pub calls: u64,
    /// Those of them that failed.
    pub failures: u64,
    /// Half of the calls took at most this long; to within 1/8 of it.
    pub p50: Option<Duration>,
    /// 95 of 100 calls took at most this long; to within 1/8 of it.
    pub p95: Option<Duration>,
}

/// Steps within each doubling of the duration.
const STEPS: usize = 8;
/// Doublings of a microsecond: the last one is above an hour.
const DOUBLINGS: usize = 33;

/// Counts without locks. The histogram (about 1 KiB) is made at the first call.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    calls: AtomicU64,
    failures: AtomicU64,
    histogram: OnceLock<Box<[AtomicU32]>>,
}

impl Stats {
    pub(crate) fn add(&self, duration: Duration, failed: bool) {
        self.calls.fetch_add(1, Relaxed);
        if failed {
            self.failures.fetch_add(1, Relaxed);
        }
        let histogram = self
            .histogram
            .get_or_init(|| (0..DOUBLINGS * STEPS).map(|_| AtomicU32::new(0)).collect());
        if let Some(bucket) = histogram.get(bucket_of(duration)) {
            bucket.fetch_add(1, Relaxed);
        }
    }

    pub(crate) fn read(&self) -> ToolStatistics {
        ToolStatistics {
            calls: self.calls.load(Relaxed),
            failures: self.failures.load(Relaxed),
            p50: self.quantile(0.50),
            p95: self.quantile(0.95),
        }
    }

    fn quantile(&self, part: f64) -> Option<Duration> {
        let counts: Vec<u64> = self
            .histogram
            .get()?
            .iter()
            .map(|count| count.load(Relaxed).into())
            .collect();
        let all: u64 = counts.iter().sum();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a rank among far fewer than 2^52 calls"
        )]
        let rank = ((all as f64 * part).ceil() as u64).max(1);
        let mut seen = 0;
        counts
            .iter()
            .position(|count| {
                seen += count;
                seen >= rank
            })
            .map(upper_end)
    }
}

/// The bucket of a duration: its doubling, and the step within that.
fn bucket_of(duration: Duration) -> usize {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let last = DOUBLINGS * STEPS - 1;
    if micros < STEPS as u64 {
        return usize::try_from(micros).unwrap_or(last);
    }
    let doubling = micros.ilog2();
    // The three bits below the leading one.
    let step = (micros >> (doubling - 3)) & 7;
    let doubling = usize::try_from(doubling).unwrap_or(DOUBLINGS) - 2;
    (doubling * STEPS + usize::try_from(step).unwrap_or(0)).min(last)
}

/// The longest duration of a bucket.
fn upper_end(bucket: usize) -> Duration {
    let (doubling, step) = (bucket / STEPS, (bucket % STEPS) as u64);
    let micros = if doubling == 0 {
        step
    } else {
        ((8 + step + 1) << (doubling - 1)) - 1
    };
    Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_close_and_in_order() {
        let mut last = 0;
        for micros in (0..3000).chain([9_999, 1_000_000, 60_000_000, 3_600_000_000]) {
            let bucket = bucket_of(Duration::from_micros(micros));
            assert!(bucket >= last, "{micros}");
            last = bucket;
            let end = u64::try_from(upper_end(bucket).as_micros()).unwrap();
            assert!(
                end >= micros && end <= micros + micros / 8,
                "{micros} is counted as {end}"
            );
        }
        assert_eq!(bucket_of(Duration::MAX), DOUBLINGS * STEPS - 1);
    }

    #[test]
    fn quantiles() {
        let stats = Stats::default();
        assert_eq!(stats.read(), ToolStatistics::default());
        for millis in 1..=100 {
            stats.add(Duration::from_millis(millis), millis % 10 == 0);
        }
        let read = stats.read();
        assert_eq!((read.calls, read.failures), (100, 10));
        let near = |duration: Option<Duration>, millis: u64| {
            let found = duration.unwrap();
            found >= Duration::from_millis(millis) && found <= Duration::from_millis(millis + millis / 8)
        };
        assert!(near(read.p50, 50) && near(read.p95, 95), "{read:?}");
    }
}
