//! [`BoundedOutput`]: the start and the end of a long output.

use std::collections::VecDeque;

use agcore::chat::text::prefix;

/// The part of a long output that is kept: this many bytes of the start, and as many of the end.
const KEPT: usize = 16 * 1024;

/// Keeps the start and the end of an output that arrives in pieces.
#[derive(Debug, Default)]
pub struct BoundedOutput {
    /// The start of a character that is not complete.
    incomplete: Vec<u8>,
    head: String,
    tail: VecDeque<u8>,
    /// The number of bytes between head and tail.
    dropped: usize,
}

impl BoundedOutput {
    /// Adds a piece, and returns its text.
    pub fn add(&mut self, chunk: &[u8]) -> String {
        let text = self.decode(chunk);
        self.keep(&text);
        text
    }

    /// Returns the text so far, and forgets it. A character that is not complete is kept.
    pub fn take(&mut self) -> String {
        let text = self.text();
        *self = Self {
            incomplete: std::mem::take(&mut self.incomplete),
            ..Self::default()
        };
        text
    }

    /// Completes the last character and the last line. Returns whether the line was not complete.
    pub fn finish(&mut self) -> bool {
        if !self.incomplete.is_empty() {
            self.incomplete.clear();
            self.keep("\u{fffd}");
        }
        let is_line = match self.tail.back() {
            Some(last) => *last == b'\n',
            None => self.head.is_empty() || self.head.ends_with('\n'),
        };
        if !is_line {
            self.keep("\n");
        }
        !is_line
    }

    /// Returns the text, with a note if a part in the middle is left out.
    pub fn text(&self) -> String {
        let (front, back) = self.tail.as_slices();
        let tail = [front, back].concat();
        let tail = String::from_utf8_lossy(&tail);
        match self.dropped {
            0 => format!("{}{tail}", self.head),
            dropped => format!("{}\n[… {dropped} bytes left out …]\n{tail}", self.head),
        }
    }

    fn decode(&mut self, chunk: &[u8]) -> String {
        self.incomplete.extend_from_slice(chunk);
        let bytes = std::mem::take(&mut self.incomplete);
        let mut text = String::new();
        for piece in bytes.utf8_chunks() {
            text.push_str(piece.valid());
            let invalid = piece.invalid();
            let is_end =
                bytes.ends_with(invalid) && std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            match invalid {
                [] => {}
                invalid if is_end => self.incomplete = invalid.to_vec(),
                _ => text.push('\u{fffd}'),
            }
        }
        text.replace("\r\n", "\n").replace('\r', "\n")
    }

    fn keep(&mut self, text: &str) {
        let mut rest = text;
        if self.tail.is_empty() && self.head.len() < KEPT {
            let start = prefix(rest, KEPT - self.head.len());
            self.head.push_str(start);
            rest = &rest[start.len()..];
        }
        self.tail.extend(rest.as_bytes());
        let excess = self.tail.len().saturating_sub(KEPT);
        self.dropped += excess;
        self.tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_pieces_of_characters() {
        let mut output = BoundedOutput::default();
        let bytes = "字\r\nx".as_bytes();
        assert_eq!(output.decode(&bytes[..1]), "");
        assert_eq!(output.decode(&bytes[1..]), "字\nx");
        assert_eq!(output.decode(b"a\xffb"), "a\u{fffd}b");
    }

    #[test]
    fn each_part_is_taken_once() {
        let mut output = BoundedOutput::default();
        output.add(&"a字".as_bytes()[..2]);
        assert_eq!(output.take(), "a");
        output.add(&"字".as_bytes()[1..]);
        assert_eq!((output.take(), output.take()), ("字".to_owned(), String::new()));
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle() {
        let mut output = BoundedOutput::default();
        for number in 0..10_000 {
            output.keep(&format!("line {number}\n"));
        }
        let text = output.text();
        assert!(text.starts_with("line 0\n") && text.ends_with("line 9999\n"));
        assert!(
            text.contains(" bytes left out …]") && text.len() < 2 * KEPT + 100,
            "{}",
            text.len()
        );
        let mut short = BoundedOutput::default();
        short.keep("one\n");
        assert_eq!(short.text(), "one\n");
    }
}
