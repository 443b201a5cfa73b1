//! [`Redaction`]: removes the key of the provider, and what the settings name, from what tools return.

use std::{borrow::Cow, fmt};

use agcore::{chat::redact::Redactor, llm::credential::Secret};
use regex::Regex;

/// The text that replaces a secret.
const REDACTED: &str = "[redacted]";

/// The length in bytes from which a key is replaced wherever it occurs. Keys of servers on this machine are often words such as
/// `none`.
const MIN_KEY: usize = 8;

/// Removes the key of the provider and the matches of the list `redact`. Other texts that look like keys are kept: a model that
/// rewrites a file would replace them.
#[derive(Clone, Default)]
pub struct Redaction {
    patterns: Vec<Regex>,
    key: Option<Secret>,
}

impl Redaction {
    /// Creates the redaction of these patterns.
    pub fn new(patterns: Vec<Regex>) -> Self {
        Self { patterns, key: None }
    }

    /// Removes this key, too.
    #[must_use]
    pub fn with_key(mut self, key: Option<&Secret>) -> Self {
        self.key = key.filter(|key| key.expose().len() >= MIN_KEY).cloned();
        self
    }
}

impl Redactor for Redaction {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut shown = Cow::Borrowed(text);
        if let Some(key) = &self.key
            && shown.contains(key.expose())
        {
            shown = shown.replace(key.expose(), REDACTED).into();
        }
        for pattern in &self.patterns {
            if let Cow::Owned(replaced) = pattern.replace_all(&shown, REDACTED) {
                shown = replaced.into();
            }
        }
        shown
    }
}

/// Without the key.
impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction")
            .field("patterns", &self.patterns)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_and_the_patterns_are_removed() {
        let redaction =
            Redaction::new(vec![Regex::new(r"ACME-\d+").unwrap()]).with_key(Some(&Secret::from("hunter-2-hunter-2")));
        let check = |text: &str, expected: &str| assert_eq!(redaction.redact(text), expected);
        check("order ACME-17 and ACME-4", "order [redacted] and [redacted]");
        check("KEY=hunter-2-hunter-2", "KEY=[redacted]");
        check("my key is sk-0123456789abcdef", "my key is sk-0123456789abcdef");
        check("nothing here", "nothing here");
        let short = Redaction::new(Vec::new()).with_key(Some(&Secret::from("none")));
        assert_eq!(short.redact("none of it"), "none of it");
        assert!(!format!("{redaction:?}").contains("hunter"));
    }
}
