//! Eviction: when to apply policies, and to what.

use std::sync::atomic::{AtomicU64, Ordering};

use agcore_chat::Timestamp;
use agcore_memory::{EvictionCandidate, EvictionConfig, EvictionPolicy};

/// Counts writes, to know when to apply the policies.
#[derive(Debug, Default)]
pub(crate) struct WriteCounter(AtomicU64);

impl WriteCounter {
    /// Counts writes. Returns whether it is time to apply the policies.
    pub(crate) fn is_due(&self, eviction: &EvictionConfig, written: usize) -> bool {
        if eviction.rules().next().is_none() {
            return false;
        }
        let written = u64::try_from(written).unwrap_or(u64::MAX);
        let before = self.0.fetch_add(written, Ordering::Relaxed);
        let interval = u64::from(eviction.check_interval.max(1));
        before / interval != before.saturating_add(written) / interval
    }
}

/// Returns which of the items below a prefix its policy removes. Items to which another policy applies are left alone.
pub(crate) fn victims(
    eviction: &EvictionConfig,
    (prefix, policy): (&str, &EvictionPolicy),
    mut candidates: Vec<EvictionCandidate>,
    now: Timestamp,
) -> Vec<String> {
    candidates.retain(|item| eviction.rule(&item.id).is_some_and(|(known, _)| known == prefix));
    policy.victims(candidates, now)
}
