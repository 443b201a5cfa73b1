//! [`Glob`]: matches names and texts.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wildmatch::WildMatch;

/// Matches whole texts: `*` is any run of characters (also none), `?` any one character, everything else itself. Dots
/// and slashes are plain characters. There is no escape.
#[derive(Clone)]
pub struct Glob {
    text: Box<str>,
    /// None when the text has no wildcard, which is the common case.
    pattern: Option<WildMatch>,
}

impl Glob {
    /// A pattern.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let pattern = text.contains(['*', '?']).then(|| WildMatch::new(&text));
        Self {
            text: text.into(),
            pattern,
        }
    }

    /// Whether it matches the whole of a text.
    pub fn matches(&self, text: &str) -> bool {
        self.pattern
            .as_ref()
            .map_or(*self.text == *text, |pattern| pattern.matches(text))
    }

    /// The pattern as text.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dots_and_slashes_are_plain() {
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
