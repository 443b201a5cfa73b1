//! Drawing one of several by weight. Pure: the random number is handed in.

/// Draws one of these by weight, with a number from 0 to 1. One of weight 0 is never drawn; nothing, when there is no other.
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
    for (one, weight) in weighted {
        if left < weight {
            return Some(one);
        }
        left -= weight;
        // Sums of floating point may leave a little over.
        last = Some(one);
    }
    last
}

/// A number from 0 to 1 that is always the same for the same text.
pub(super) fn number_of(text: &str) -> f64 {
    // FNV-1a, <http://www.isthe.com/chongo/tech/comp/fnv/>, with its high bits stirred as in MurmurHash3's last step.
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
    fn each_has_its_share() {
        let share = |at: usize| {
            let drawn = (0..1000).filter(|n| draw([(0, 5.0), (1, 3.0), (2, 2.0)], f64::from(*n) / 1000.0) == Some(at));
            drawn.count()
        };
        assert_eq!([share(0), share(1), share(2)], [500, 300, 200]);
    }

    #[test]
    fn odd_numbers_draw_somebody() {
        for random in [0.0, 1.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            assert!(
                draw([("a", 0.0), ("b", 0.1), ("c", 0.2), ("d", 0.0)], random)
                    .is_some_and(|one| one == "b" || one == "c")
            );
        }
        assert_eq!(draw([] as [(u8, f64); 0], 0.5), None);
    }

    #[test]
    fn texts_are_spread_evenly() {
        let low = (0..1000).filter(|n| number_of(&format!("trace-{n}")) < 0.5).count();
        assert!((400..600).contains(&low), "{low} of 1000 in the lower half");
        assert_eq!(number_of("a"), number_of("a"));
    }

    proptest! {
        #[test]
        fn only_the_weighted_are_drawn(weights in prop::collection::vec(prop_oneof![Just(0.0), 0.001..1e9_f64], 0..8), random in 0.0..=1.0_f64) {
            match draw(weights.iter().copied().enumerate(), random) {
                Some(at) => prop_assert!(weights[at] > 0.0),
                None => prop_assert!(weights.iter().all(|weight| *weight == 0.0)),
            }
        }
    }
}
