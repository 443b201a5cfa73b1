//! How a text is cut into the deltas of a stream.

use serde::Deserialize;

/// The rule by which texts, reasoning and call arguments become deltas.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Chunking {
    /// A delta per word, with the white space after it.
    #[default]
    Words,
    /// A delta per so many characters (at least one).
    Chars(usize),
    /// One delta for the whole text.
    Whole,
}

impl Chunking {
    /// The pieces of `text`, in order, none of them empty; together they are `text`.
    pub fn pieces<'t>(&self, text: &'t str) -> Vec<&'t str> {
        match *self {
            _ if text.is_empty() => Vec::new(),
            Self::Words => words(text),
            Self::Chars(size) => chars(text, size.max(1)),
            Self::Whole => vec![text],
        }
    }
}

/// Cuts where a word begins after white space.
fn words(text: &str) -> Vec<&str> {
    let mut previous_blank = false;
    cut(text, |_, c| {
        let starts = previous_blank && !c.is_whitespace();
        previous_blank = c.is_whitespace();
        starts
    })
}

fn chars(text: &str, size: usize) -> Vec<&str> {
    cut(text, |index, _| index % size == 0)
}

/// Cuts before each character (given with its number) for which `begins` says so.
fn cut(text: &str, mut begins: impl FnMut(usize, char) -> bool) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for (number, (offset, c)) in text.char_indices().enumerate() {
        if begins(number, c) && offset > start {
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
    fn pieces_join_to_the_text() {
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
