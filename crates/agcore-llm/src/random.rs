//! Randomness for jitter and weighted choices, passed in so that tests can control it.

use std::sync::Arc;

/// A source of random numbers from 0 (inclusive) to 1 (exclusive).
pub type Random = Arc<dyn Fn() -> f64 + Send + Sync>;

/// Returns a source backed by the thread-local generator. Good enough for jitter, not for secrets.
pub fn system_random() -> Random {
    Arc::new(fastrand::f64)
}

/// Draws one of the items at random, in proportion to their weights.
///
/// `random` is a number from 0 to 1. Items of weight 0 are never drawn; if there are no others, the result is `None`.
///
/// ```
/// use agcore_llm::layer::fallback::draw;
///
/// let weighted = [("openai", 3.0), ("azure", 1.0), ("retired", 0.0)];
/// assert_eq!(draw(weighted, 0.7), Some("openai"));
/// assert_eq!(draw(weighted, 0.8), Some("azure"));
/// assert_eq!(draw([("retired", 0.0)], 0.5), None);
/// ```
pub fn draw<T>(weighted: impl IntoIterator<Item = (T, f64), IntoIter: Clone>, random: f64) -> Option<T> {
    let weighted = weighted.into_iter().filter(|(_, weight)| *weight > 0.0);
    let sum: f64 = weighted.clone().map(|(_, weight)| weight).sum();
    let mut left = if random.is_finite() {
        random.clamp(0.0, 1.0)
    } else {
        0.0
    } * sum;
    let mut last = None;
    for (item, weight) in weighted {
        if left < weight {
            return Some(item);
        }
        left -= weight;
        // Rounding may leave a small rest after the last item.
        last = Some(item);
    }
    last
}

/// Returns a number from 0 to 1 that is always the same for the same text.
pub(crate) fn hash_to_unit(text: &str) -> f64 {
    // FNV-1a (<http://www.isthe.com/chongo/tech/comp/fnv/>), with the high bits mixed like in the last step of MurmurHash3.
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let hash = (hash ^ (hash >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let high = u32::try_from((hash ^ (hash >> 33)) >> 32).unwrap_or(u32::MAX);
    f64::from(high) / (f64::from(u32::MAX) + 1.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn draws_in_proportion_to_the_weights() {
        let count = |item: usize| {
            let drawn =
                (0..1000).filter(|n| draw([(0, 5.0), (1, 3.0), (2, 2.0)], f64::from(*n) / 1000.0) == Some(item));
            drawn.count()
        };
        assert_eq!([count(0), count(1), count(2)], [500, 300, 200]);
    }

    #[test]
    fn draws_an_item_for_numbers_out_of_range() {
        for random in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(
                draw([("a", 0.0), ("b", 0.1), ("c", 0.2), ("d", 0.0)], random)
                    .is_some_and(|item| item == "b" || item == "c")
            );
        }
        assert_eq!(draw([] as [(u8, f64); 0], 0.5), None);
    }

    #[test]
    fn hashes_are_spread_evenly() {
        let low = (0..1000).filter(|n| hash_to_unit(&format!("trace-{n}")) < 0.5).count();
        assert!((400..600).contains(&low), "{low} of 1000 in the lower half");
        assert_eq!(hash_to_unit("a"), hash_to_unit("a"));
    }

    proptest! {
        #[test]
        fn draws_only_items_with_a_weight(weights in prop::collection::vec(prop_oneof![Just(0.0), 0.001..1e9_f64], 0..8), random in 0.0..=1.0_f64) {
            match draw(weights.iter().copied().enumerate(), random) {
                Some(at) => prop_assert!(weights[at] > 0.0),
                None => prop_assert!(weights.iter().all(|weight| *weight == 0.0)),
            }
        }
    }
}
