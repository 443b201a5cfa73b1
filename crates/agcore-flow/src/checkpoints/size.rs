//! [`size`]: the number of bytes of a value as JSON.

use std::io::{self, Write};

use serde_json::Value;

/// Returns the number of bytes of a value as JSON, without writing it anywhere.
pub(super) fn size(value: &Value) -> usize {
    let mut count = Count(0);
    // Neither counting nor writing a JSON value can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// Counts the bytes that are written.
struct Count(usize);

impl Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
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
    fn the_size_is_that_of_the_text() {
        for value in [json!(null), json!(-1.5), json!({"é\n": ["\u{1}", true, {}], "b": []})] {
            assert_eq!(size(&value), value.to_string().len(), "{value}");
        }
    }
}
