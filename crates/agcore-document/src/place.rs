//! [`Place`]: a line and a column of a document.

use std::fmt;

/// A place in a document: line and column, both from 1; 0 if it is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Place {
    /// The start of a document.
    pub const START: Self = Self { line: 1, column: 1 };

    /// Creates a place.
    pub const fn new(line: usize, column: usize) -> Self {
        Self { line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The number of bytes whose characters are counted for each place, however long a line is.
const BLOCK: usize = 256;

/// The starts of the lines of a text, for the places of byte offsets.
pub(crate) struct Lines<'t> {
    text: &'t str,
    starts: Vec<usize>,
    /// The number of characters before each block.
    before: Vec<usize>,
}

impl<'t> Lines<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let blocks = text.as_bytes().chunks(BLOCK).scan(0, |chars, block| {
            let before = *chars;
            *chars += count(block);
            Some(before)
        });
        Self {
            text,
            starts: std::iter::once(0).chain(ends).collect(),
            before: blocks.collect(),
        }
    }

    pub(crate) fn place(&self, offset: usize) -> Place {
        let line = self.starts.partition_point(|start| *start <= offset);
        let start = self.starts.get(line.saturating_sub(1)).copied().unwrap_or_default();
        Place::new(line, self.chars(offset) - self.chars(start) + 1)
    }

    /// Returns the number of characters before an offset.
    fn chars(&self, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.before.len().saturating_sub(1));
        let rest = self.text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        self.before.get(block).copied().unwrap_or_default() + count(rest)
    }
}

/// Returns the number of characters that begin in a part of a text.
fn count(bytes: &[u8]) -> usize {
    let is_begin = |byte: &&u8| (**byte & 0b1100_0000) != 0b1000_0000;
    bytes.iter().filter(is_begin).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters() {
        let text = format!("é\n{}x\r\ny", "日é".repeat(500));
        let lines = Lines::of(&text);
        let mut expected = Place::START;
        for (offset, char) in text.char_indices() {
            assert_eq!(lines.place(offset), expected, "{offset}");
            match char {
                '\n' => expected = Place::new(expected.line + 1, 1),
                _ => expected.column += 1,
            }
        }
        assert_eq!(lines.place(text.len()), expected);
        assert_eq!(Lines::of("").place(0), Place::START);
    }
}
