//! The beginnings of tokens in scripts whose words consist of several tokens.
//!
//! `pieces.bin` is a Bloom filter of 2^18 bits with two probes, or three for pieces that start with a Chinese character. It
//! contains every beginning of every token of `o200k_base` that consists of Arabic, Chinese, Cyrillic, Devanagari, Japanese,
//! Korean or Thai letters, about 50 000 strings. Tokens with a space in front have another seed than those without. The test
//! `the_filter_contains_the_beginnings_of_tokens` of agcore-llm computes the file.

/// The filter.
static FILTER: &[u8; 1 << (BITS - 3)] = include_bytes!("pieces.bin");

/// The binary logarithm of the number of bits.
const BITS: u32 = 18;

/// A part of a word that may be the beginning of a token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    hash: u64,
}

impl Piece {
    /// Creates an empty piece, with or without a space in front.
    #[inline]
    pub(super) fn new(spaced: bool) -> Self {
        Self {
            hash: if spaced { 1 } else { 2 },
        }
    }

    /// Appends a letter.
    #[inline]
    pub(super) fn with(self, letter: char) -> Self {
        let mixed = self.hash.rotate_left(5) ^ u64::from(letter);
        Self {
            hash: mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
        }
    }

    /// Returns whether a token probably begins like this, by this number of probes, which depends on the script. Tokens are
    /// never missed. One other piece in ten is taken for a token with two probes, and one in thirty with three.
    #[inline]
    pub(super) fn is_known(self, probes: u32) -> bool {
        (1..=probes).all(|probe| {
            let at = (self.hash >> (u64::BITS - probe * BITS)) as usize & ((1 << BITS) - 1);
            FILTER.get(at / 8).is_some_and(|bits| bits >> (at % 8) & 1 == 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Piece;

    fn is_known(spaced: bool, text: &str) -> bool {
        text.chars().fold(Piece::new(spaced), Piece::with).is_known(2)
    }

    #[test]
    fn contains_the_beginnings_of_tokens() {
        for word in ["при", "привет", "में", "من", "안녕"] {
            assert!(is_known(true, word), "{word}");
        }
        for word in ["我们", "です", "ของ", "ов", "는"] {
            assert!(is_known(false, word), "{word}");
        }
    }

    #[test]
    fn rarely_contains_anything_else() {
        let pairs = ('а'..='я').flat_map(|a| ('\u{4e00}'..'\u{4f00}').map(move |b| format!("{a}{b}")));
        let (known, all) = pairs.fold((0, 0), |(known, all), pair| {
            (known + usize::from(is_known(true, &pair)), all + 1)
        });
        assert!(known * 8 < all, "{known} of {all}");
    }
}
