//! [`Cleaner`]: finds secrets in texts and in JSON.

use std::ops::Range;

use serde_json::{Map, Value};

use super::shapes;
use crate::credential::{MARK, SHORTEST, Secret};

/// Finds secrets and puts the mark in their place. Cleaning twice is cleaning once.
pub(super) struct Cleaner {
    /// All forms of all secrets, longer ones first.
    forms: Vec<String>,
    shapes: bool,
}

impl Cleaner {
    pub(super) fn new(secrets: impl Iterator<Item = Secret>, shapes: bool) -> Self {
        let mut forms: Vec<String> = secrets.flat_map(|secret| forms_of(secret.expose().trim())).collect();
        forms.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        forms.dedup();
        Self { forms, shapes }
    }

    /// Cleans a text, also one that is JSON in which a secret is written with escapes.
    pub(super) fn text(&self, text: &mut String) {
        if let Some(clean) = self.cleaned(text) {
            *text = clean;
        }
    }

    /// The clean text, if there is something to be cleaned.
    pub(super) fn cleaned(&self, text: &str) -> Option<String> {
        let plain = match self.found(text).as_slice() {
            [] => None,
            found => Some(without(text, found)),
        };
        self.unescaped(plain.as_deref().unwrap_or(text)).or(plain)
    }

    /// Cleans all names and strings of a JSON value.
    pub(super) fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item)),
            Value::Object(members) => {
                members.values_mut().for_each(|value| self.value(value));
                if members.keys().any(|name| self.cleaned(name).is_some()) {
                    *members = self.renamed(std::mem::take(members));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The places of secrets, in order, none overlapping another.
    pub(super) fn found(&self, text: &str) -> Vec<Range<usize>> {
        let known = self.forms.iter().flat_map(|form| {
            let places = text.match_indices(form.as_str());
            places.map(|(at, found)| at..at + found.len())
        });
        let mut places: Vec<_> = known.collect();
        if self.shapes {
            places.extend(shapes::found(text));
        }
        places.sort_by_key(|place| (place.start, place.end));
        places.dedup_by(|next, before| {
            let overlaps = next.start < before.end;
            if overlaps {
                before.end = before.end.max(next.end);
            }
            overlaps
        });
        places
    }

    /// The text as clean JSON, if it is JSON with escapes and a secret was behind them.
    fn unescaped(&self, text: &str) -> Option<String> {
        if !text.contains('\\') || !text.trim_start().starts_with(['{', '[', '"']) {
            return None;
        }
        let before: Value = serde_json::from_str(text).ok()?;
        let mut after = before.clone();
        self.value(&mut after);
        (after != before).then(|| after.to_string())
    }

    fn renamed(&self, members: Map<String, Value>) -> Map<String, Value> {
        let renamed = members.into_iter().map(|(mut name, value)| {
            self.text(&mut name);
            (name, value)
        });
        renamed.collect()
    }
}

/// The forms in which a secret stands in a text: as it is, and as JSON writes it.
fn forms_of(secret: &str) -> Vec<String> {
    if secret.len() < SHORTEST {
        return Vec::new();
    }
    let mut forms = vec![secret.to_owned()];
    let json = Value::from(secret).to_string();
    let escaped = &json[1..json.len() - 1];
    if escaped != secret {
        forms.push(escaped.to_owned());
    }
    forms
}

fn without(text: &str, places: &[Range<usize>]) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        clean.push_str(&text[at..place.start]);
        clean.push_str(MARK);
        at = place.end;
    }
    clean.push_str(&text[at..]);
    clean
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn cleaner(secrets: &[&str]) -> Cleaner {
        Cleaner::new(secrets.iter().map(|secret| Secret::from(*secret)), false)
    }

    #[test]
    fn known_secrets_go_wherever_they_stand() {
        let check = |text: &str, expected: &str| {
            let mut found = text.to_owned();
            cleaner(&["hunter2-hunter2", "a\"b\\c/d1", "hunter2-hunter2-long"]).text(&mut found);
            assert_eq!(found, expected, "{text}");
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
    fn short_placeholders_stay() {
        let mut text = "ollama EMPTY".to_owned();
        cleaner(&["ollama", "EMPTY", " "]).text(&mut text);
        assert_eq!(text, "ollama EMPTY");
    }

    #[test]
    fn names_and_values_of_json_are_cleaned() {
        let mut value = json!({"secret-1234": ["secret-1234", 1, {"x": "a secret-1234"}], "y": null});
        cleaner(&["secret-1234"]).value(&mut value);
        assert_eq!(
            value,
            json!({"[redacted]": ["[redacted]", 1, {"x": "a [redacted]"}], "y": null})
        );
    }
}
