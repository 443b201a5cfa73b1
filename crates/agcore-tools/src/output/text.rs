//! The text of JSON values, and its size. Huge values are neither written out as a whole nor counted to their end.

use std::{
    fmt,
    io::{self, Write},
};

use agcore_chat::text::prefix;
use serde_json::Value;

/// The size up to which a value that is too long is counted, in bytes.
const MAX_COUNTED: usize = 4 * 1024 * 1024;

/// Returns a string as it is, and any other value as compact JSON.
pub(crate) fn text_of(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

/// Returns whether [`text_of`] is longer than `max_bytes`.
pub(crate) fn text_exceeds(value: &Value, max_bytes: usize) -> bool {
    match value {
        Value::String(text) => text.len() > max_bytes,
        other => json_exceeds(other, max_bytes),
    }
}

/// Returns whether the compact JSON of a value is longer than `max_bytes`.
pub(crate) fn json_exceeds(value: &Value, max_bytes: usize) -> bool {
    let mut counter = Counter::new(0, max_bytes);
    serde_json::to_writer(&mut counter, value).is_err()
}

/// Returns the first `max_bytes` bytes of the compact JSON of a value, up to a character boundary, and its size.
pub(crate) fn json_prefix(value: &Value, max_bytes: usize) -> (String, Size) {
    let mut counter = Counter::new(max_bytes, MAX_COUNTED.max(max_bytes));
    let is_exact = serde_json::to_writer(&mut counter, value).is_ok();
    let size = Size {
        bytes: counter.written,
        is_exact,
    };
    // Only the last character can be incomplete.
    let start = String::from_utf8(counter.start).unwrap_or_else(|error| {
        let valid = error.utf8_error().valid_up_to();
        String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned()
    });
    (prefix(&start, max_bytes).to_owned(), size)
}

/// The size of a text in bytes, or a lower bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Size {
    bytes: usize,
    is_exact: bool,
}

impl Size {
    /// Creates an exact size.
    pub(crate) fn exact(bytes: usize) -> Self {
        Self { bytes, is_exact: true }
    }

    /// Returns the size of the compact JSON of a value.
    pub(crate) fn of_json(value: &Value) -> Self {
        json_prefix(value, 0).1
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_exact { "" } else { "more than " })?;
        self.bytes.fmt(f)
    }
}

/// A writer that keeps the start of the text, counts the rest, and fails beyond a limit.
struct Counter {
    start: Vec<u8>,
    keep: usize,
    written: usize,
    limit: usize,
}

impl Counter {
    fn new(keep: usize, limit: usize) -> Self {
        Self {
            start: Vec::new(),
            keep,
            written: 0,
            limit,
        }
    }
}

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.keep.saturating_sub(self.start.len()).min(bytes.len());
        self.start.extend_from_slice(&bytes[..room]);
        self.written = self.written.saturating_add(bytes.len());
        if self.written > self.limit {
            self.written = self.limit;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_start_of_the_text_ends_at_a_character() {
        let value = json!(["é", 1]);
        for (max_bytes, start) in [(0, ""), (2, "[\""), (3, "[\""), (4, "[\"é"), (99, "[\"é\",1]")] {
            assert_eq!(
                json_prefix(&value, max_bytes),
                (start.to_owned(), Size::exact(8)),
                "{max_bytes}"
            );
        }
        assert!(json_exceeds(&value, 7) && !json_exceeds(&value, 8));
        assert!(text_exceeds(&json!("éé"), 3) && !text_exceeds(&json!("éé"), 4));
    }

    #[test]
    fn a_huge_value_is_counted_only_to_a_limit() {
        let value = Value::from("x".repeat(MAX_COUNTED + 1));
        assert_eq!(Size::of_json(&value).to_string(), "more than 4194304");
    }
}
