//! The table `[tools]`: what of the tools and their results requests contain.

use serde::{Deserialize, Deserializer, de};

/// The tokens of the definitions above which tools of MCP servers are left out of requests, unless the settings say otherwise.
const AUTO_SEARCH: u64 = 10_000;

/// The tokens above which results are shortened, if that is on.
const COMPRESS: u64 = 2_000;

/// The table `[tools]`.
#[derive(Debug, Default, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolTable {
    /// When tools of MCP servers are left out of requests until the model loads them.
    search: Option<Limit>,
    /// The names of tools that are never left out.
    #[serde(default)]
    pub pin: Vec<String>,
    /// When results are shortened for the model.
    compress: Option<Limit>,
}

/// A number of tokens from which on a setting applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Limit {
    Off,
    Auto,
    Tokens(u64),
}

impl ToolTable {
    /// Returns the table with what it does not set from another one. Both pin their tools.
    #[must_use]
    pub(in crate::settings) fn or(mut self, other: &Self) -> Self {
        self.search = self.search.or(other.search);
        self.compress = self.compress.or(other.compress);
        self.pin.extend(other.pin.iter().cloned());
        self
    }

    /// Returns the number of tokens above which definitions are left out of requests; `None` if they never are.
    pub fn search_above(&self) -> Option<u64> {
        self.search.unwrap_or(Limit::Auto).tokens(AUTO_SEARCH)
    }

    /// Returns the number of tokens above which results are shortened; `None` if they never are, which is the default.
    pub fn compress_above(&self) -> Option<u64> {
        self.compress.unwrap_or(Limit::Off).tokens(COMPRESS)
    }
}

impl Limit {
    fn tokens(self, auto: u64) -> Option<u64> {
        match self {
            Self::Off => None,
            Self::Auto => Some(auto),
            Self::Tokens(tokens) => Some(tokens),
        }
    }
}

impl<'de> Deserialize<'de> for Limit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Raw {
            Tokens(u64),
            Word(String),
        }

        match Raw::deserialize(deserializer) {
            Ok(Raw::Tokens(tokens)) => Ok(Self::Tokens(tokens)),
            Ok(Raw::Word(word)) if word == "auto" => Ok(Self::Auto),
            Ok(Raw::Word(word)) if word == "off" => Ok(Self::Off),
            _ => Err(de::Error::custom("expected \"auto\", \"off\" or a number of tokens")),
        }
    }
}

#[cfg(test)]
mod tests {
    use agcore_document::Format;

    use super::*;

    fn table(text: &str) -> Result<ToolTable, String> {
        let root = Format::Toml.parse(text).map_err(|error| error.to_string())?;
        root.read().map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_file_that_sets_a_limit_counts_and_pins_add_up() {
        let one = table("search = 500\npin = ['a']").unwrap();
        let other = table("search = 'off'\ncompress = 'auto'\npin = ['b']").unwrap();
        let both = one.or(&other);
        assert_eq!(
            (both.search_above(), both.compress_above()),
            (Some(500), Some(COMPRESS))
        );
        assert_eq!(both.pin, ["a", "b"]);
        let none = ToolTable::default();
        assert_eq!((none.search_above(), none.compress_above()), (Some(AUTO_SEARCH), None));
        assert_eq!(other.search_above(), None);
    }

    #[test]
    fn other_values_are_errors() {
        for wrong in [
            "search = true",
            "search = 'on'",
            "compress = -1",
            "search = 1.5",
            "find = 1",
        ] {
            let error = table(wrong).unwrap_err();
            assert!(
                error.contains("expected \"auto\"") || error.contains("there is no member `find`"),
                "{error}"
            );
        }
    }
}
