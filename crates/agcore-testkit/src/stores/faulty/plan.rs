//! [`FaultPlan`]: which calls go wrong, and how.

use std::{collections::BTreeMap, fmt, sync::Arc};

/// A fault of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFault {
    /// The call fails and does not take place.
    Fail,
    /// The call takes place, but fails: the answer of the store was lost.
    LoseAnswer,
    /// The call waits until a test releases it.
    Hold,
    /// The call is started and dropped before it is complete, unless it is complete by then, and fails. Whether it takes place is
    /// open.
    Abandon {
        /// How often the call is polled before it is dropped. 0 means that it is not even started.
        polls: u32,
    },
}

/// Which calls of a [`FaultyStore`](super::FaultyStore) go wrong. The same plan always gives the same faults.
///
/// ```
/// use agcore_testkit::stores::faulty::{FaultPlan, StoreFault};
///
/// let plan = FaultPlan::new().with_fault(2, StoreFault::Fail);
/// assert_eq!(plan.fault(2, "save"), Some(StoreFault::Fail));
/// assert_eq!(plan.fault(3, "save"), None);
///
/// let reads_fail = FaultPlan::from_fn(|_, method| (method == "read").then_some(StoreFault::Fail));
/// assert_eq!(reads_fail.fault(0, "read"), Some(StoreFault::Fail));
/// ```
#[derive(Clone)]
pub struct FaultPlan(Arc<Choose>);

type Choose = dyn Fn(usize, &str) -> Option<StoreFault> + Send + Sync;

impl FaultPlan {
    /// Creates a plan without faults.
    pub fn new() -> Self {
        Self::from_fn(|_, _| None)
    }

    /// Creates a plan from a function of the number of a call and the name of its method. To be repeatable, the function must
    /// depend on nothing else.
    pub fn from_fn(fault: impl Fn(usize, &str) -> Option<StoreFault> + Send + Sync + 'static) -> Self {
        Self(Arc::new(fault))
    }

    /// Creates a plan in which about one call in four goes wrong, with one of these faults, chosen by a seed.
    pub fn random(seed: u64, faults: impl Into<Vec<StoreFault>>) -> Self {
        let faults = faults.into();
        Self::from_fn(move |number, _| {
            let random = mix(seed ^ mix(number as u64));
            let choice = usize::try_from((random >> 8) % faults.len().max(1) as u64).unwrap_or(0);
            random.is_multiple_of(4).then(|| faults.get(choice).copied()).flatten()
        })
    }

    /// Makes a call go wrong. Further faults replace earlier ones of the same call.
    #[must_use]
    pub fn with_fault(self, call: usize, fault: StoreFault) -> Self {
        self.with_faults([(call, fault)])
    }

    /// Makes several calls go wrong.
    #[must_use]
    pub fn with_faults(self, faults: impl IntoIterator<Item = (usize, StoreFault)>) -> Self {
        let faults: BTreeMap<usize, StoreFault> = faults.into_iter().collect();
        Self::from_fn(move |number, method| faults.get(&number).copied().or_else(|| self.fault(number, method)))
    }

    /// Returns what goes wrong with a call.
    pub fn fault(&self, number: usize, method: &str) -> Option<StoreFault> {
        (self.0)(number, method)
    }
}

impl Default for FaultPlan {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultPlan").finish_non_exhaustive()
    }
}

/// Spreads a number over all bits (the finalizer of SplitMix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_faults() {
        let faults = [StoreFault::Fail, StoreFault::LoseAnswer];
        let chosen = |seed| {
            let plan = FaultPlan::random(seed, faults);
            (0..1000).map(|number| plan.fault(number, "save")).collect::<Vec<_>>()
        };
        assert_eq!(chosen(1), chosen(1));
        assert_ne!(chosen(1), chosen(2));
        for fault in faults {
            let count = chosen(3).into_iter().filter(|chosen| *chosen == Some(fault)).count();
            assert!((80..170).contains(&count), "{count} of 1000");
        }
        assert_eq!(FaultPlan::random(1, []).fault(0, "save"), None);
    }

    #[test]
    fn later_faults_replace_earlier_ones() {
        let plan = FaultPlan::from_fn(|_, _| Some(StoreFault::Fail)).with_fault(1, StoreFault::Hold);
        assert_eq!(plan.fault(0, ""), Some(StoreFault::Fail));
        assert_eq!(plan.fault(1, ""), Some(StoreFault::Hold));
    }
}
