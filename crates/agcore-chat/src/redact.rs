//! Removing secrets from text and JSON: the contract [`Redactor`], and one that knows common keys.
//!
//! ```
//! use agcore_chat::redact::{KeyRedactor, Redactor, redact_json};
//! use serde_json::json;
//!
//! assert_eq!(KeyRedactor.redact("my key is sk-0123456789abcdef"), "my key is [redacted]");
//!
//! let mut data = json!({"headers": ["Bearer 0123456789abcdef01234567"]});
//! redact_json(&KeyRedactor, &mut data);
//! assert_eq!(data, json!({"headers": ["Bearer [redacted]"]}));
//! ```

mod key_patterns;
mod store;

pub use key_patterns::key_ranges;
pub use store::Redacted;

use std::{borrow::Cow, sync::Arc};

use serde_json::{Map, Value};

/// The text that replaces a key.
const REDACTED: &str = "[redacted]";

/// Removes secrets from a text. Implemented for every `Fn(&str) -> Cow<str>`; see [`redactor_fn`] for closures.
///
/// A redactor should be idempotent and return the same result for the same text every time, so that what was stored
/// without secrets can be found again.
pub trait Redactor: Send + Sync {
    /// Returns the text without secrets; borrowed if it contains none.
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str>;
}

impl<F: Fn(&str) -> Cow<'_, str> + Send + Sync> Redactor for F {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self(text)
    }
}

/// Creates a redactor from a closure.
///
/// A closure that is passed to this function returns a `Cow` with the lifetime of its argument, which the compiler does
/// not infer for one that is passed to `Arc::new`.
///
/// ```
/// use agcore_chat::redact::{Redactor, redactor_fn};
///
/// let redactor = redactor_fn(|text| text.replace("sk-123", "[redacted]").into());
/// assert_eq!(redactor.redact("KEY=sk-123"), "KEY=[redacted]");
/// ```
pub fn redactor_fn(redact: impl Fn(&str) -> Cow<'_, str> + Send + Sync + 'static) -> Arc<dyn Redactor> {
    Arc::new(redact)
}

/// Removes keys that are recognized by their form: `sk-…`, `Bearer …`, `AKIA…`, `ghp_…`, JSON web tokens, private keys and
/// more. Other secrets, and keys that are encoded or split, are not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KeyRedactor;

impl Redactor for KeyRedactor {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut keys = key_ranges(text);
        if keys.is_empty() {
            return Cow::Borrowed(text);
        }
        keys.sort_unstable_by_key(|key| (key.start, key.end));
        let (mut redacted, mut copied) = (String::with_capacity(text.len()), 0);
        for key in keys {
            // Keys may overlap, as in `Bearer sk-…`.
            if key.start >= copied {
                redacted.push_str(&text[copied..key.start]);
                redacted.push_str(REDACTED);
            }
            copied = copied.max(key.end);
        }
        redacted.push_str(&text[copied..]);
        Cow::Owned(redacted)
    }
}

/// Removes secrets from a text in place.
pub fn redact_text(redactor: &dyn Redactor, text: &mut String) {
    if let Cow::Owned(clean) = redactor.redact(text) {
        *text = clean;
    }
}

/// Removes secrets from all strings of a JSON value, but not from the names of members.
pub fn redact_strings(redactor: &dyn Redactor, value: &mut Value) {
    match value {
        Value::String(text) => redact_text(redactor, text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_strings(redactor, item)),
        Value::Object(members) => members.values_mut().for_each(|member| redact_strings(redactor, member)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Removes secrets from all strings of a JSON value and from the names of members.
pub fn redact_json(redactor: &dyn Redactor, value: &mut Value) {
    match value {
        Value::String(text) => redact_text(redactor, text),
        Value::Array(items) => items.iter_mut().for_each(|item| redact_json(redactor, item)),
        Value::Object(members) => redact_members(redactor, members),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Does the same as [`redact_json`] for a JSON object. If two names become the same, the last member is kept.
pub fn redact_members(redactor: &dyn Redactor, members: &mut Map<String, Value>) {
    members.values_mut().for_each(|member| redact_json(redactor, member));
    let has_secret = |name: &String| matches!(redactor.redact(name), Cow::Owned(_));
    if members.keys().any(has_secret) {
        let renamed = std::mem::take(members).into_iter().map(|(mut name, member)| {
            redact_text(redactor, &mut name);
            (name, member)
        });
        *members = renamed.collect();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn removes_keys_and_keeps_the_rest() {
        let check = |text: &str, expected: &str| {
            let redacted = KeyRedactor.redact(text);
            assert_eq!(redacted, expected);
            assert_eq!(KeyRedactor.redact(&redacted), expected, "not idempotent");
        };
        check(
            "Authorization: Bearer sk-abcdefghijklmnop1234",
            "Authorization: Bearer [redacted]",
        );
        check(
            "é sk-abcdefghijkl1 and AKIAIOSFODNN7EXAMPLE.",
            "é [redacted] and [redacted].",
        );
        check("nothing", "nothing");
        assert!(matches!(KeyRedactor.redact("nothing"), Cow::Borrowed(_)));
    }

    #[test]
    fn removes_keys_from_json() {
        let key = "sk-abcdefghijklmnop1234";
        let data = json!({"a": [key, {key: 1, "b": {"c": format!("x {key}")}}], "n": [null, 1, true]});
        let mut strings = data.clone();
        redact_strings(&KeyRedactor, &mut strings);
        let expected = json!({"a": ["[redacted]", {key: 1, "b": {"c": "x [redacted]"}}], "n": [null, 1, true]});
        assert_eq!(strings, expected);
        let mut all = data;
        redact_json(&KeyRedactor, &mut all);
        let expected =
            json!({"a": ["[redacted]", {"[redacted]": 1, "b": {"c": "x [redacted]"}}], "n": [null, 1, true]});
        assert_eq!(all, expected);
    }
}
