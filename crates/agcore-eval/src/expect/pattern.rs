//! [`Pattern`] and [`Pointer`]: texts that are checked when a file is read.

use std::fmt;

use regex::Regex;
use serde::{Deserialize, Deserializer, de};

/// A regular expression, in the syntax of the crate `regex`.
#[derive(Debug, Clone)]
pub struct Pattern(Regex);

impl Pattern {
    /// Returns whether it matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let regex = Regex::new(&text);
        regex.map(Self).map_err(|error| {
            // The message of a syntax error has several lines, of which the last one is the reason.
            let message = error.to_string();
            let reason = message.lines().last().unwrap_or_default().trim_start_matches("error: ");
            de::Error::custom(format_args!("{text:?} is not a regular expression: {reason}"))
        })
    }
}

/// A JSON Pointer: empty, or names and numbers that each begin with `/`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pointer(String);

impl Pointer {
    /// Returns the pointer.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.is_empty() || text.starts_with('/') {
            true => Ok(Self(text)),
            false => Err(de::Error::custom(format_args!(
                "{text:?} is not a JSON Pointer: it must be empty or begin with `/`"
            ))),
        }
    }
}
