//! [`Redactor`]: finds and replaces secrets in strings and in JSON.

use std::ops::Range;

use agcore_chat::redact::key_ranges;
use serde_json::{Map, Value};

use super::spellings::spellings;
use crate::credential::{REDACTED, Secret};

/// Finds and replaces secrets. Redacting is idempotent.
pub(super) struct Redactor {
    /// All spellings of all secrets, longest first.
    spellings: Vec<String>,
    key_patterns: bool,
}

impl Redactor {
    pub(super) fn new(secrets: impl Iterator<Item = Secret>, key_patterns: bool) -> Self {
        let mut spellings: Vec<String> = secrets.flat_map(|secret| spellings(secret.expose().trim())).collect();
        spellings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        spellings.dedup();
        Self {
            spellings,
            key_patterns,
        }
    }

    /// Redacts a string, including one that is JSON with escape sequences inside a secret.
    pub(super) fn redact_text(&self, text: &mut String) {
        if let Some(redacted) = self.redacted(text) {
            *text = redacted;
        }
    }

    /// Returns the redacted string, if it contains a secret.
    pub(super) fn redacted(&self, text: &str) -> Option<String> {
        let plain = match self.find(text).as_slice() {
            [] => None,
            found => Some(replace(text, found)),
        };
        self.redacted_json(plain.as_deref().unwrap_or(text)).or(plain)
    }

    /// Redacts all member names and strings of a JSON value.
    pub(super) fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.redact_text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|value| self.redact_value(value));
                if members.keys().any(|name| self.redacted(name).is_some()) {
                    *members = self.redact_names(std::mem::take(members));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Returns the ranges of secrets, in order and without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.spellings.iter().flat_map(|spelling| {
            let matches = text.match_indices(spelling.as_str());
            matches.map(|(start, secret)| start..start + secret.len())
        });
        let mut ranges: Vec<_> = known.collect();
        if self.key_patterns {
            ranges.extend(key_ranges(text));
        }
        ranges.sort_by_key(|range| (range.start, range.end));
        ranges.dedup_by(|next, previous| {
            let overlaps = next.start < previous.end;
            if overlaps {
                previous.end = previous.end.max(next.end);
            }
            overlaps
        });
        ranges
    }

    /// Returns the string as redacted JSON, if it is JSON whose escape sequences hide a secret.
    fn redacted_json(&self, text: &str) -> Option<String> {
        if !text.contains('\\') || !text.trim_start().starts_with(['{', '[', '"']) {
            return None;
        }
        let before: Value = serde_json::from_str(text).ok()?;
        let mut after = before.clone();
        self.redact_value(&mut after);
        (after != before).then(|| after.to_string())
    }

    fn redact_names(&self, members: Map<String, Value>) -> Map<String, Value> {
        let renamed = members.into_iter().map(|(mut name, value)| {
            self.redact_text(&mut name);
            (name, value)
        });
        renamed.collect()
    }
}

/// Replaces the ranges of a string.
fn replace(text: &str, ranges: &[Range<usize>]) -> String {
    let mut redacted = String::with_capacity(text.len());
    let mut end = 0;
    for range in ranges {
        redacted.push_str(&text[end..range.start]);
        redacted.push_str(REDACTED);
        end = range.end;
    }
    redacted.push_str(&text[end..]);
    redacted
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        Redactor::new(secrets.iter().map(|secret| Secret::from(*secret)), false)
    }

    #[test]
    fn redacts_known_secrets_in_any_spelling() {
        let check = |text: &str, expected: &str| {
            let mut redacted = text.to_owned();
            redactor(&["hunter2-hunter2", "a\"b\\c/d1", "hunter2-hunter2-long"]).redact_text(&mut redacted);
            assert_eq!(redacted, expected, "{text}");
        };
        check("it is hunter2-hunter2.", "it is [redacted].");
        check("hunter2-hunter2hunter2-hunter2", "[redacted][redacted]");
        check("hunter2-hunter2-long", "[redacted]");
        check(r#"a"b\c/d1 plain"#, "[redacted] plain");
        check(r#"{"cut": "a\"b\\c/d1"#, r#"{"cut": "[redacted]"#);
        check(
            r#"{"u":"\u0068unter2-hunter2","n":1.0}"#,
            r#"{"u":"[redacted]","n":1.0}"#,
        );
        check(r#"{"s":"a\"b\\c\/d1"}"#, r#"{"s":"[redacted]"}"#);
        check(r#"{"s":"a \n b"}"#, r#"{"s":"a \n b"}"#);
        check("hunter2", "hunter2");
    }

    #[test]
    fn keeps_short_placeholders() {
        let mut text = "ollama EMPTY".to_owned();
        redactor(&["ollama", "EMPTY", " "]).redact_text(&mut text);
        assert_eq!(text, "ollama EMPTY");
    }

    #[test]
    fn redacts_names_and_values_of_json() {
        let mut value = json!({"secret-1234": ["secret-1234", 1, {"x": "a secret-1234"}], "y": null});
        redactor(&["secret-1234"]).redact_value(&mut value);
        assert_eq!(
            value,
            json!({"[redacted]": ["[redacted]", 1, {"x": "a [redacted]"}], "y": null})
        );
    }
}
