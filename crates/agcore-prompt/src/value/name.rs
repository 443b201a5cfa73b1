//! [`Mark`]: a name at a glance.

/// The first seven bytes and the length of a name, in one word.
///
/// A loop compares names for each of its elements. Most differ in their marks, and short ones are the same when their
/// marks are: no look at the text itself, no call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(u64);

impl Mark {
    /// Bytes that a mark holds.
    const HELD: usize = 7;

    #[inline]
    pub(super) fn new(name: &str) -> Self {
        let length = name.len().min(u8::MAX.into()) as u64;
        let bytes = name.as_bytes();
        let held = &bytes[..bytes.len().min(Self::HELD)];
        Self(held.iter().fold(length, |mark, byte| mark << 8 | u64::from(*byte)))
    }

    /// Whether the names with these marks are the same.
    #[inline]
    pub(super) fn is_same(self, name: &str, other: Self, other_name: &str) -> bool {
        self == other && (name.len() <= Self::HELD || name == other_name)
    }
}

#[cfg(test)]
mod tests {
    use super::Mark;

    fn same(one: &str, other: &str) -> bool {
        Mark::new(one).is_same(one, Mark::new(other), other)
    }

    #[test]
    fn agrees_with_the_comparison_of_text() {
        let base = "abcdefghijklmnopqrstuvwxyz";
        for len in 0..base.len() {
            assert!(same(&base[..len], &base[..len]));
            assert!(!same(&base[..len], &base[..=len]));
            for changed in 0..len {
                assert!(
                    !same(
                        &base[..len],
                        &format!("{}_{}", &base[..changed], &base[changed + 1..len])
                    ),
                    "{len} {changed}"
                );
            }
        }
        assert!(!same("a", "\0a") && !same("", "\0") && !same(&"a".repeat(300), &"a".repeat(301)));
    }
}
