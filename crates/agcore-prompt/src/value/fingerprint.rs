//! [`Fingerprint`]: a one-word summary of a name that makes comparisons cheap.

/// The first seven bytes and the length of a name, packed into one word.
///
/// A loop compares names for each of its elements. Most different names have different fingerprints, and names of up to
/// seven bytes are equal if their fingerprints are, so the text itself is rarely compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fingerprint(u64);

impl Fingerprint {
    /// The number of bytes of the name that a fingerprint contains.
    const PREFIX_LEN: usize = 7;

    #[inline]
    pub(super) fn new(name: &str) -> Self {
        let length = name.len().min(u8::MAX.into()) as u64;
        let bytes = name.as_bytes();
        let prefix = &bytes[..bytes.len().min(Self::PREFIX_LEN)];
        Self(
            prefix
                .iter()
                .fold(length, |packed, byte| packed << 8 | u64::from(*byte)),
        )
    }

    /// Returns whether the names with these fingerprints are equal.
    #[inline]
    pub(super) fn matches(self, name: &str, other: Self, other_name: &str) -> bool {
        self == other && (name.len() <= Self::PREFIX_LEN || name == other_name)
    }
}

#[cfg(test)]
mod tests {
    use super::Fingerprint;

    fn matches(name: &str, other: &str) -> bool {
        Fingerprint::new(name).matches(name, Fingerprint::new(other), other)
    }

    #[test]
    fn agrees_with_string_comparison() {
        let base = "abcdefghijklmnopqrstuvwxyz";
        for len in 0..base.len() {
            assert!(matches(&base[..len], &base[..len]));
            assert!(!matches(&base[..len], &base[..=len]));
            for changed in 0..len {
                let other = format!("{}_{}", &base[..changed], &base[changed + 1..len]);
                assert!(!matches(&base[..len], &other), "{len} {changed}");
            }
        }
        assert!(!matches("a", "\0a") && !matches("", "\0") && !matches(&"a".repeat(300), &"a".repeat(301)));
    }
}
