//! [`ToolStatistics`]: the number of calls and failures of a tool, and its latency.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use serde::Serialize;

/// The statistics of a tool since it was registered.
///
/// ```
/// use agcore_chat::ToolCall;
/// use agcore_tools::{NoArguments, SystemClock, ToolContext, ToolError, ToolRegistry, typed};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), ToolError> {
/// let tools = ToolRegistry::new();
/// tools.register(typed("ping", "Pings.", |_: NoArguments| async { Ok("pong") }))?;
/// let context = ToolContext::builder(std::sync::Arc::new(SystemClock::new())).build();
/// tools.invoke(ToolCall::function("call_1", "ping", "{}"), &context).await.result?;
///
/// let statistics = tools.get("ping").unwrap().statistics();
/// assert_eq!((statistics.calls, statistics.failures), (1, 0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ToolStatistics {
    /// The number of calls that ran to completion, whether or not they failed.
    pub calls: u64,
    /// The number of calls that failed.
    pub failures: u64,
    /// The median duration; overestimates by at most 1/8.
    pub p50: Option<Duration>,
    /// The 95th percentile of the duration; overestimates by at most 1/8.
    pub p95: Option<Duration>,
}

/// The number of buckets within each doubling of the duration.
const STEPS: usize = 8;
/// The number of doublings, starting at a microsecond. The last bucket is above an hour.
const DOUBLINGS: usize = 33;

/// Lock-free counters. The histogram (about 1 KiB) is allocated by the first call.
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

/// Returns the bucket of a duration: its doubling, and the step within that.
fn bucket_of(duration: Duration) -> usize {
    let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
    let last = DOUBLINGS * STEPS - 1;
    if micros < STEPS as u64 {
        return usize::try_from(micros).unwrap_or(last);
    }
    let doubling = micros.ilog2();
    // The three bits below the leading bit.
    let step = (micros >> (doubling - 3)) & 7;
    let doubling = usize::try_from(doubling).unwrap_or(DOUBLINGS) - 2;
    (doubling * STEPS + usize::try_from(step).unwrap_or(0)).min(last)
}

/// Returns the longest duration of a bucket.
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
    fn buckets_are_ordered_and_at_most_one_eighth_too_long() {
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
    fn computes_quantiles() {
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
