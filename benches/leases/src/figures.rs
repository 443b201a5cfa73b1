//! [`Figures`]: the counts and times of a scenario.

use std::time::Duration;

/// The counts and times of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// The simulated time.
    pub simulated: Duration,
    /// The CPU time of this process.
    pub cpu: Duration,
    /// The calls of the store. Each is a transaction.
    pub statements: u64,
    /// Claims.
    pub claims: u64,
    /// Claims that found nothing.
    pub empty_claims: u64,
    /// Claims that were asked for again, because the answer was lost, and got the same leases.
    pub repeated_claims: u64,
    /// Renewals, each of all leases of a worker.
    pub renewals: u64,
    /// Leases that were renewed.
    pub renewed: u64,
    /// Leases that were to be renewed and did not hold any more.
    pub renewed_too_late: u64,
    /// Writes that were accepted.
    pub commits: u64,
    /// Writes that were refused because their lease did not hold any more.
    pub fenced: u64,
    /// The writes among these of workers whose clock runs slowly.
    pub fenced_slow: u64,
    /// Writes that came so late that the session was deleted.
    pub too_late: u64,
    /// Runs that a worker has left because of its own clock.
    pub left_in_time: u64,
    /// Requests and answers that were lost.
    pub lost: u64,
    /// Workers that were killed.
    pub kills: u64,
    /// Workers among these that were killed by a run.
    pub poisoned: u64,
    /// Workers that never came back.
    pub gone: u64,
    /// Workers that were stopped for a while.
    pub stops: u64,
    /// Runs that have ended.
    pub ended: u64,
    /// Commits of workers whose calendar was wrong.
    pub with_wrong_calendar: u64,
    /// Runs that were claimed too often.
    pub dead: u64,
    /// The runs among these that did not kill their workers.
    pub dead_innocents: u64,
    /// The times from the last renewal of a lost worker until another one had the run, in milliseconds.
    pub takeovers: Vec<u32>,
    /// The times among these during which a slot was free.
    pub free_takeovers: Vec<u32>,
    /// The waiting times of each kind of tenant, from the request to the first claim, in milliseconds.
    pub waits: Vec<Vec<u32>>,
    /// The time that workers have spent on the runs of each tenant while all tenants waited, in milliseconds.
    pub served: Vec<u64>,
}

impl Figures {
    /// Sorts what quantiles are taken from.
    pub(crate) fn sort(&mut self) {
        self.takeovers.sort_unstable();
        self.free_takeovers.sort_unstable();
        self.waits.iter_mut().for_each(|waits| waits.sort_unstable());
    }
}

/// Returns a quantile of sorted values; 0 without any.
pub fn quantile(sorted: &[u32], part: f64) -> u32 {
    let place = (sorted.len() as f64 * part).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values() {
        let sorted: Vec<u32> = (1..=100).collect();
        assert_eq!(quantile(&sorted, 0.5), 50);
        assert_eq!(quantile(&sorted, 0.95), 95);
        assert_eq!(quantile(&sorted, 1.0), 100);
        assert_eq!(quantile(&[], 0.5), 0);
    }
}
