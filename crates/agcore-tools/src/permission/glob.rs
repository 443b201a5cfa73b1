//! [`Glob`]: a pattern for names and texts. [`Match`]: whether a value matches a pattern.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wildmatch::WildMatch;

/// A pattern that matches whole texts: `*` matches any run of characters (including none), `?` matches any one
/// character, and every other character matches itself.
///
/// Dots and slashes are ordinary characters. There is no escape character.
///
/// ```
/// use agcore_tools::permission::Glob;
///
/// let pattern = Glob::new("fs.*");
/// assert!(pattern.matches("fs.read/all"));
/// assert!(!pattern.matches("my.fs.read"));
/// ```
#[derive(Clone)]
pub struct Glob {
    text: Box<str>,
    /// `None` when the text has no wildcard, which is the common case.
    pattern: Option<WildMatch>,
}

impl Glob {
    /// Creates a pattern.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let pattern = text.contains(['*', '?']).then(|| WildMatch::new(&text));
        Self {
            text: text.into(),
            pattern,
        }
    }

    /// Returns whether the pattern matches the whole text.
    pub fn matches(&self, text: &str) -> bool {
        self.pattern
            .as_ref()
            .map_or(*self.text == *text, |pattern| pattern.matches(text))
    }

    /// Returns the pattern as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Glob {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Glob {}

impl From<&str> for Glob {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Glob {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

impl FromStr for Glob {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(Self::new(text))
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl Serialize for Glob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for Glob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::new)
    }
}

/// The result of testing a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// The value passes.
    Yes,
    /// Enough of the value passes for a rule that asks or denies, but not for one that allows.
    Part,
    /// The text alone does not decide.
    Unknown,
    /// The value does not pass.
    No,
}

impl Match {
    /// Returns the better one of two results.
    pub(crate) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::Part, _) | (_, Self::Part) => Self::Part,
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            (Self::No, Self::No) => Self::No,
        }
    }

    /// Returns the opposite result. `Part` and `Unknown` stay as they are.
    pub(crate) fn not(self) -> Self {
        match self {
            Self::Yes => Self::No,
            Self::Part => Self::Part,
            Self::Unknown => Self::Unknown,
            Self::No => Self::Yes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn treats_dots_and_slashes_as_ordinary_characters() {
        for (glob, text, expected) in [
            ("fs.read", "fs.read", true),
            ("fs.read", "fsXread", false),
            ("fs.*", "fs.read/all.now", true),
            ("*", "", true),
            ("a?c", "a/c", true),
            ("a?c", "ac", false),
            ("*read", "fs.readme", false),
            ("é*", "émile", true),
        ] {
            assert_eq!(Glob::new(glob).matches(text), expected, "{glob} {text}");
        }
    }
}
