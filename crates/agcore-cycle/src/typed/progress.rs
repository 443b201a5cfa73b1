//! [`Progress`]: the value while it is written, told often enough and not too often.

use serde_json::Value;

use super::partial::ObjectFinder;

/// A value is told again when its text grew by one part in so many, so that all telling is linear in the text.
const SHARE: usize = 16;

/// The value while it is written.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    finder: ObjectFinder,
    /// Bytes of text so far.
    read: usize,
    /// The same when the value was told last.
    told_at: usize,
    /// The revision that was told last.
    told: u64,
}

impl Progress {
    /// Takes more of the text; gives the value where it is time to tell it.
    pub(crate) fn push(&mut self, text: &str) -> Option<Value> {
        self.finder.push(text);
        self.read += text.len();
        let is_time = self.read - self.told_at >= self.read / SHARE || !self.finder.is_inside();
        if is_time { self.change() } else { None }
    }

    /// The value, unless it was told as it is.
    pub(crate) fn change(&mut self) -> Option<Value> {
        let revision = self.finder.revision();
        if revision == self.told {
            return None;
        }
        let value = self.finder.value()?;
        (self.told, self.told_at) = (revision, self.read);
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tells_changes_only() {
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
    fn telling_a_long_text_is_linear_in_it() {
        let mut progress = Progress::default();
        let mut told = progress.push("{\"a\": \"").map_or(0, |_| 1);
        let mut bytes = 0;
        for _ in 0..10_000 {
            if let Some(value) = progress.push("0123456789") {
                bytes += value["a"].as_str().unwrap().len();
                told += 1;
            }
        }
        assert!(told > 50 && bytes < 20 * 100_000, "{told} times, {bytes} bytes");
    }
}
