//! Sets of characters of one Unicode block, built at compile time.

/// A bit set of the `64 * WORDS` characters that start with `first`.
#[derive(Debug)]
pub(super) struct CharSet<const WORDS: usize> {
    first: u32,
    bits: [u64; WORDS],
}

impl<const WORDS: usize> CharSet<WORDS> {
    /// Creates the set of the characters in `members`, each of which must take three bytes in UTF-8.
    pub(super) const fn new(first: char, members: &str) -> Self {
        let first = first as u32;
        let bytes = members.as_bytes();
        let mut bits = [0; WORDS];
        let mut i = 0;
        while i < bytes.len() {
            let (a, b, c) = (bytes[i] & 0x0f, bytes[i + 1] & 0x3f, bytes[i + 2] & 0x3f);
            let at = (((a as u32) << 12) | ((b as u32) << 6) | c as u32) - first;
            bits[(at / 64) as usize] |= 1 << (at % 64);
            i += 3;
        }
        Self { first, bits }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let at = u32::from(c).wrapping_sub(self.first);
        let word = self.bits.get((at / 64) as usize);
        word.is_some_and(|word| (word >> (at % 64)) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::CharSet;

    #[test]
    fn contains_exactly_its_members() {
        static SET: CharSet<2> = CharSet::new('一', "一丁丿乿");
        let members: String = ('\0'..=char::MAX).filter(|&c| SET.contains(c)).collect();
        assert_eq!(members, "一丁丿乿");
    }
}
