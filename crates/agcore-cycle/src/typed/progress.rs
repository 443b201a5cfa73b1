//! [`Progress`]: the value that a model is writing, returned often enough and not too often.

use serde_json::Value;

use super::partial::ObjectFinder;

/// A value is returned again when its text has grown by this fraction of its length, so that the total work is linear in the
/// text.
const GROWTH: usize = 16;

/// The value that a model is writing.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    finder: ObjectFinder,
    /// The length of the text so far, in bytes.
    read: usize,
    /// The length of the text when the value was last returned.
    returned_at: usize,
    /// The revision that was last returned.
    returned: u64,
}

impl Progress {
    /// Adds text. Returns the value if it changed and has grown enough, or is complete.
    pub(crate) fn push(&mut self, text: &str) -> Option<Value> {
        self.finder.push(text);
        self.read += text.len();
        let is_due = self.read - self.returned_at >= self.read / GROWTH || !self.finder.is_inside();
        if is_due { self.change() } else { None }
    }

    /// Returns the value if it has changed since it was last returned.
    pub(crate) fn change(&mut self) -> Option<Value> {
        let revision = self.finder.revision();
        if revision == self.returned {
            return None;
        }
        let value = self.finder.value()?;
        (self.returned, self.returned_at) = (revision, self.read);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn returns_only_changes() {
        let mut progress = Progress::default();
        for (text, expected) in [
            ("So: ", None),
            ("{", None),
            ("\"a\"", Some(json!({}))),
            (": \"x", Some(json!({"a": "x"}))),
            ("\\", None),
            ("n", Some(json!({"a": "x\n"}))),
            ("\"", None),
            ("}", Some(json!({"a": "x\n"}))),
            (" There.", None),
        ] {
            assert_eq!(progress.push(text), expected, "{text}");
        }
        assert_eq!(progress.change(), None);
    }

    #[test]
    fn the_total_size_of_all_values_is_linear_in_the_text() {
        let mut progress = Progress::default();
        let mut returned = progress.push("{\"a\": \"").map_or(0, |_| 1);
        let mut bytes = 0;
        for _ in 0..10_000 {
            if let Some(value) = progress.push("0123456789") {
                bytes += value["a"].as_str().unwrap().len();
                returned += 1;
            }
        }
        assert!(
            returned > 50 && bytes < 20 * 100_000,
            "{returned} values, {bytes} bytes"
        );
    }
}
