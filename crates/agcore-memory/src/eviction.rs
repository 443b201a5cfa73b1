//! [`EvictionConfig`]: which items a store removes by itself.

use std::{cmp::Ordering, time::Duration};

use agcore_chat::{Timestamp, id};

/// The prefixes of ids to which the default policy does not apply: knowledge, session memory and conversations. To remove
/// such items, set a policy for one of these prefixes, or for a longer one.
pub const RESERVED_PREFIXES: [&str; 3] = ["knowledge_", "_session_", "conversation_"];

/// Which items a store removes by itself. By default, none.
///
/// A policy applies to the ids that begin with its prefix. If several do, the longest prefix decides. Capacities are counted
/// for each tenant separately.
///
/// ```
/// use std::time::Duration;
/// use agcore_memory::{EvictionConfig, EvictionPolicy};
///
/// let config = EvictionConfig::new()
///     .with_default(EvictionPolicy::Capacity { max_items: 10_000 })
///     .with_policy("scratch/", EvictionPolicy::Ttl(Duration::from_secs(3600)));
/// assert_eq!(config.policy("scratch/1"), Some(&EvictionPolicy::Ttl(Duration::from_secs(3600))));
/// assert_eq!(config.policy("knowledge_1"), None);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EvictionConfig {
    /// The policies by prefix. The longest prefix comes first.
    policies: Vec<(String, EvictionPolicy)>,
    /// The number of writes after which the store looks for items to remove.
    pub check_interval: u32,
}

/// A policy of eviction.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum EvictionPolicy {
    /// Keeps all items.
    Keep,
    /// Removes items that were not saved for this long. They are not returned any more even before they are removed.
    Ttl(Duration),
    /// Removes the items that were created first.
    Capacity {
        /// The number of items to keep.
        max_items: u64,
    },
    /// Removes the items that are least worth keeping, judged by their recalls and their age.
    RecallValue {
        /// The number of items to keep.
        max_items: u64,
        /// The age that makes the recency of an item fall to 1/e. [`HALF_LIFE`](Self::HALF_LIFE) is a good start.
        half_life: Duration,
    },
    /// Both [`Ttl`](Self::Ttl) and [`RecallValue`](Self::RecallValue).
    Hybrid {
        /// The time after which an item that was not saved again is removed.
        ttl: Duration,
        /// The number of items to keep.
        max_items: u64,
        /// The age that makes the recency of an item fall to 1/e.
        half_life: Duration,
    },
}

/// The data of an item by which a policy judges it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EvictionCandidate {
    /// The id.
    pub id: String,
    /// The time of the first save.
    pub created_at: Timestamp,
    /// The time of the last save.
    pub updated_at: Timestamp,
    /// The number of recalls.
    pub recalls: u64,
    /// The sum of the scores of all recalls.
    pub score_sum: f64,
    /// The time of the last recall.
    pub recalled_at: Option<Timestamp>,
}

impl EvictionCandidate {
    /// Creates a candidate that was never recalled.
    pub fn new(id: impl Into<String>, created_at: Timestamp, updated_at: Timestamp) -> Self {
        Self {
            id: id.into(),
            created_at,
            updated_at,
            recalls: 0,
            score_sum: 0.0,
            recalled_at: None,
        }
    }

    /// Sets the recalls.
    #[must_use]
    pub fn with_recalls(mut self, recalls: u64, score_sum: f64, recalled_at: Option<Timestamp>) -> Self {
        self.recalls = recalls;
        self.score_sum = score_sum;
        self.recalled_at = recalled_at;
        self
    }

    /// Returns how much the item is worth keeping: `ln(1 + recalls) · 0.3 + mean score · 0.5 + recency · 0.2`, where the
    /// recency is `exp(−age / half life)` and the age is the time since the item was last saved or recalled.
    pub fn value(&self, now: Timestamp, half_life: Duration) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "an estimate")]
        let recalls = self.recalls as f64;
        let mean_score = if self.recalls == 0 {
            0.0
        } else {
            self.score_sum / recalls
        };
        let last_use = self.recalled_at.unwrap_or(self.updated_at).max(self.updated_at);
        let age = now.since(last_use).as_secs_f64();
        let recency = (-age / half_life.as_secs_f64().max(f64::MIN_POSITIVE)).exp();
        recalls.ln_1p() * 0.3 + mean_score * 0.5 + recency * 0.2
    }
}

impl EvictionPolicy {
    /// A half life of seven days.
    pub const HALF_LIFE: Duration = Duration::from_secs(7 * 24 * 3600);

    /// Returns the time after which items expire.
    pub fn ttl(&self) -> Option<Duration> {
        match self {
            Self::Ttl(ttl) | Self::Hybrid { ttl, .. } => Some(*ttl),
            Self::Keep | Self::Capacity { .. } | Self::RecallValue { .. } => None,
        }
    }

    /// Returns the number of items to keep.
    pub fn max_items(&self) -> Option<u64> {
        match self {
            Self::Capacity { max_items } | Self::RecallValue { max_items, .. } | Self::Hybrid { max_items, .. } => {
                Some(*max_items)
            }
            Self::Keep | Self::Ttl(_) => None,
        }
    }

    /// Returns the ids to remove. The candidates are all items of one tenant to which the policy applies.
    pub fn victims(&self, mut candidates: Vec<EvictionCandidate>, now: Timestamp) -> Vec<String> {
        let ttl = self.ttl();
        let is_expired = |item: &EvictionCandidate| ttl.is_some_and(|ttl| item.updated_at.after(ttl) <= now);
        let mut victims: Vec<String> = Vec::new();
        candidates.retain(|item| {
            let expired = is_expired(item);
            if expired {
                victims.push(item.id.clone());
            }
            !expired
        });
        let keep = self.max_items().and_then(|max| usize::try_from(max).ok());
        let excess = keep.map_or(0, |keep| candidates.len().saturating_sub(keep));
        if excess > 0 {
            candidates.sort_by(|one, other| self.least_worthy(one, other, now));
            victims.extend(candidates.into_iter().take(excess).map(|item| item.id));
        }
        victims
    }

    fn least_worthy(&self, one: &EvictionCandidate, other: &EvictionCandidate, now: Timestamp) -> Ordering {
        let by_age = |item: &EvictionCandidate| (item.created_at, item.id.clone());
        let by_value = match self {
            Self::RecallValue { half_life, .. } | Self::Hybrid { half_life, .. } => {
                one.value(now, *half_life).total_cmp(&other.value(now, *half_life))
            }
            Self::Keep | Self::Ttl(_) | Self::Capacity { .. } => Ordering::Equal,
        };
        by_value.then_with(|| by_age(one).cmp(&by_age(other)))
    }
}

impl Default for EvictionConfig {
    fn default() -> Self {
        Self {
            policies: Vec::new(),
            check_interval: 64,
        }
    }
}

impl EvictionConfig {
    /// Creates a configuration that keeps all items.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the policy for all ids, except for those that begin with one of the [`RESERVED_PREFIXES`].
    #[must_use]
    pub fn with_default(self, policy: EvictionPolicy) -> Self {
        self.with_policy("", policy)
    }

    /// Sets the policy for the ids that begin with a prefix.
    #[must_use]
    pub fn with_policy(mut self, prefix: impl Into<String>, policy: EvictionPolicy) -> Self {
        let prefix = prefix.into();
        self.policies.retain(|(known, _)| *known != prefix);
        self.policies.push((prefix, policy));
        self.policies.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        self
    }

    /// Sets the number of writes after which the store looks for items to remove. 0 means after every write, as does 1.
    #[must_use]
    pub fn with_check_interval(mut self, writes: u32) -> Self {
        self.check_interval = writes;
        self
    }

    /// Returns the policy that applies to an id.
    pub fn policy(&self, id: &str) -> Option<&EvictionPolicy> {
        self.rule(id).map(|(_, policy)| policy)
    }

    /// Returns the prefix and the policy that apply to an id.
    pub fn rule(&self, id: &str) -> Option<(&str, &EvictionPolicy)> {
        let reserved = RESERVED_PREFIXES.iter().find(|prefix| id.starts_with(**prefix));
        let least = reserved.map_or(0, |prefix| prefix.len());
        let mut policies = self.policies.iter();
        let (prefix, policy) = policies.find(|(prefix, _)| prefix.len() >= least && id.starts_with(prefix.as_str()))?;
        Some((prefix, policy))
    }

    /// Returns all prefixes with their policies. The longest prefix comes first.
    pub fn rules(&self) -> impl Iterator<Item = (&str, &EvictionPolicy)> {
        self.policies.iter().map(|(prefix, policy)| (prefix.as_str(), policy))
    }

    /// Returns the rules of expiry, for databases that evaluate them on their own: prefixes, each with the moment at or before
    /// which an item must have been saved to be expired, if the policy has a lifetime. The first prefix with which an id
    /// begins decides; without one, the item does not expire.
    pub fn expiry_rules(&self, now: Timestamp) -> Vec<(&str, Option<Timestamp>)> {
        let cutoff = |ttl: Duration| {
            let millis = i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX);
            Timestamp::from_millis(now.as_millis().saturating_sub(millis))
        };
        let rules = self.rules().map(|(prefix, policy)| (prefix, policy.ttl().map(cutoff)));
        let reserved = RESERVED_PREFIXES.iter().map(|prefix| (*prefix, None));
        let mut rules: Vec<_> = rules.chain(reserved).collect();
        // Stable, so that a policy for exactly a reserved prefix precedes it.
        rules.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        rules
    }

    /// Returns whether an item with this id, last saved at `updated_at`, must not be returned any more.
    pub fn is_expired(&self, id: &str, updated_at: Timestamp, now: Timestamp) -> bool {
        let ttl = self.policy(id).and_then(EvictionPolicy::ttl);
        ttl.is_some_and(|ttl| updated_at.after(ttl) <= now)
    }

    /// Checks that every store can apply the policies.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if a prefix is not acceptable.
    pub fn check(&self) -> Result<(), crate::MemoryError> {
        let mut prefixes = self.policies.iter().map(|(prefix, _)| prefix);
        Ok(prefixes.try_for_each(|prefix| id::check_prefix("the prefix of an eviction policy", prefix))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1000)
    }

    fn item(id: &str, created: i64) -> EvictionCandidate {
        EvictionCandidate::new(id, at(created), at(created))
    }

    #[test]
    fn the_longest_prefix_decides_and_reserved_ids_are_kept() {
        let config = EvictionConfig::new()
            .with_default(EvictionPolicy::Capacity { max_items: 1 })
            .with_policy("a/", EvictionPolicy::Keep)
            .with_policy("a/b/", EvictionPolicy::Ttl(Duration::from_secs(1)))
            .with_policy("know", EvictionPolicy::Capacity { max_items: 2 })
            .with_policy("_session_x/", EvictionPolicy::Capacity { max_items: 3 });
        let prefix = |id: &str| config.rule(id).map(|(prefix, _)| prefix);
        assert_eq!(prefix("a/b/c"), Some("a/b/"));
        assert_eq!(prefix("a/c"), Some("a/"));
        assert_eq!(prefix("b"), Some(""));
        assert_eq!(prefix("knows"), Some("know"));
        assert_eq!(prefix("knowledge_page"), None, "a shorter prefix is store-wide, too");
        assert_eq!(prefix("_session_x/key"), Some("_session_x/"));
        assert_eq!(prefix("_session_y/key"), None);
    }

    #[test]
    fn the_rules_of_expiry_are_those_of_the_policies() {
        let ttl = |seconds| EvictionPolicy::Ttl(Duration::from_secs(seconds));
        let config = EvictionConfig::new()
            .with_default(ttl(10))
            .with_policy("a/", EvictionPolicy::Keep)
            .with_policy("a/b", ttl(20))
            .with_policy("know", ttl(30))
            .with_policy("_session_", ttl(40));
        let now = at(100);
        let rules = config.expiry_rules(now);
        for id in ["x", "a/", "a/b", "know", "knowledge_x", "_session_x", "conversation_x"] {
            for saved in [50, 60, 61, 70, 71, 80, 81, 90, 91] {
                let rule = rules.iter().find(|(prefix, _)| id.starts_with(prefix));
                let expired = rule.is_some_and(|(_, cutoff)| cutoff.is_some_and(|cutoff| at(saved) <= cutoff));
                assert_eq!(expired, config.is_expired(id, at(saved), now), "{id} {saved}");
            }
        }
    }

    #[test]
    fn items_expire_at_the_end_of_their_time() {
        let config = EvictionConfig::new().with_default(EvictionPolicy::Ttl(Duration::from_secs(10)));
        assert!(!config.is_expired("a", at(0), at(9)));
        assert!(config.is_expired("a", at(0), at(10)));
        assert!(!config.is_expired("a", at(20), at(10)), "the clock went backwards");
    }

    #[test]
    fn capacity_removes_the_oldest() {
        let policy = EvictionPolicy::Capacity { max_items: 2 };
        let items = vec![item("c", 3), item("a", 1), item("b", 1), item("d", 4)];
        assert_eq!(policy.victims(items, at(9)), ["a", "b"]);
        assert!(policy.victims(vec![item("a", 1)], at(9)).is_empty());
        assert_eq!(
            EvictionPolicy::Capacity { max_items: 0 }.victims(vec![item("a", 1)], at(9)),
            ["a"]
        );
    }

    #[test]
    fn recalled_items_are_worth_more() {
        let policy = EvictionPolicy::RecallValue {
            max_items: 1,
            half_life: EvictionPolicy::HALF_LIFE,
        };
        let recalled = item("old", 0).with_recalls(3, 2.4, Some(at(5)));
        assert_eq!(policy.victims(vec![recalled.clone(), item("new", 9)], at(10)), ["new"]);
        let expected = 4f64.ln() * 0.3 + 0.8 * 0.5 + (-5.0 / (7.0 * 86400.0_f64)).exp() * 0.2;
        assert!((recalled.value(at(10), EvictionPolicy::HALF_LIFE) - expected).abs() < 1e-12);
    }

    #[test]
    fn hybrid_removes_expired_items_first() {
        let policy = EvictionPolicy::Hybrid {
            ttl: Duration::from_secs(5),
            max_items: 1,
            half_life: EvictionPolicy::HALF_LIFE,
        };
        let items = vec![item("expired", 0), item("older", 6), item("newer", 7)];
        assert_eq!(policy.victims(items, at(8)), ["expired", "older"]);
    }
}
