//! [`Format`]: the format of a document.

use crate::{
    error::{DocumentError, ErrorKind},
    json,
    limits::Limits,
    node::Node,
    place::Lines,
    toml, yaml,
};

/// The format of a document.
///
/// All formats are read by the same rules:
///
/// - Numbers keep their digits. Infinity and NaN are refused in TOML and are texts in YAML.
/// - Dates and times are texts.
/// - A key is a text, and occurs once in a table.
/// - An empty document is an empty table, except in JSON, which has no empty documents.
/// - A byte order mark at the start is skipped, and NUL characters are refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2 with anchors and aliases. It includes JSON. Tags other than `!!str`, merge keys and several documents in one
    /// text are refused.
    Yaml,
    /// JSON.
    Json,
}

impl Format {
    /// Returns the format of a file by the end of its name: `.toml`, `.yaml` or `.yml`, `.json`.
    ///
    /// ```
    /// use agcore_document::Format;
    ///
    /// assert_eq!(Format::of_file("models.yml"), Some(Format::Yaml));
    /// assert_eq!(Format::of_file("models.txt"), None);
    /// ```
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" => Some(Self::Yaml),
            "json" => Some(Self::Json),
            _ => None,
        }
    }

    /// Reads a document within the default limits.
    ///
    /// # Errors
    /// The first part that is not of the format, is not supported, or exceeds a limit.
    pub fn parse(self, text: &str) -> Result<Node, DocumentError> {
        self.parse_within(text, &Limits::default())
    }

    /// Reads a document within limits.
    ///
    /// # Errors
    /// The first part that is not of the format, is not supported, or exceeds a limit.
    pub fn parse_within(self, text: &str, limits: &Limits) -> Result<Node, DocumentError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let refused = |offset: usize, kind| Err(DocumentError::of_text(Lines::of(text).place(offset), kind));
        if text.len() > limits.max_bytes {
            let most = limits.max_bytes;
            return refused(0, ErrorKind::TooLarge { unit: "bytes", most });
        }
        if let Some(offset) = text.find('\0') {
            return refused(
                offset,
                ErrorKind::Unsupported("the text has a NUL character; remove it"),
            );
        }
        match self {
            Self::Toml => toml::parse(text, limits),
            Self::Yaml => yaml::parse(text, limits),
            Self::Json => json::parse(text, limits),
        }
    }
}
