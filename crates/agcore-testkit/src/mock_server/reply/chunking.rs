//! [`Chunking`]: how a text is split into the deltas of a stream.

use serde::Deserialize;

/// The rule for splitting texts, reasoning and call arguments into deltas.
///
/// ```
/// use agcore_testkit::mock_server::Chunking;
///
/// assert_eq!(Chunking::Words.pieces("one two  three"), ["one ", "two  ", "three"]);
/// assert_eq!(Chunking::Chars(2).pieces("äöü"), ["äö", "ü"]);
/// assert_eq!(Chunking::Whole.pieces("one two"), ["one two"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chunking {
    /// One delta per word, including the whitespace after it.
    #[default]
    Words,
    /// One delta per this many characters; zero counts as one.
    Chars(usize),
    /// One delta for the whole text.
    Whole,
}

impl Chunking {
    /// Splits `text` into non-empty pieces that concatenate to `text`.
    pub fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        match *self {
            _ if text.is_empty() => Vec::new(),
            Self::Words => words(text),
            Self::Chars(size) => chars(text, size.max(1)),
            Self::Whole => vec![text],
        }
    }
}

/// Splits before each word that follows whitespace.
fn words(text: &str) -> Vec<&str> {
    let mut previous_blank = false;
    split_before(text, |_, c| {
        let starts = previous_blank && !c.is_whitespace();
        previous_blank = c.is_whitespace();
        starts
    })
}

fn chars(text: &str, size: usize) -> Vec<&str> {
    split_before(text, |index, _| index % size == 0)
}

/// Splits before each character, passed with its index, for which `starts_piece` returns `true`.
fn split_before(text: &str, mut starts_piece: impl FnMut(usize, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (index, (offset, c)) in text.char_indices().enumerate() {
        if starts_piece(index, c) && offset > start {
            pieces.push(&text[start..offset]);
            start = offset;
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: Chunking, text: &str, expected: &[&str]) {
        assert_eq!(rule.pieces(text), expected, "{rule:?} of {text:?}");
        assert_eq!(rule.pieces(text).concat(), text);
    }

    #[test]
    fn pieces_concatenate_to_the_text() {
        check(Chunking::Words, "", &[]);
        check(Chunking::Words, "one", &["one"]);
        check(Chunking::Words, "one two  three\n", &["one ", "two  ", "three\n"]);
        check(Chunking::Words, "  lead", &["  ", "lead"]);
        check(Chunking::Chars(2), "äöü", &["äö", "ü"]);
        check(Chunking::Chars(0), "ab", &["a", "b"]);
        check(Chunking::Whole, "one two", &["one two"]);
        check(Chunking::Whole, "", &[]);
    }
}
