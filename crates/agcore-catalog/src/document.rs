//! Documents: TOML and YAML as one tree of values with their places.

mod toml;

use agcore_yaml::{Limits, Node, Place, Value};

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// YAML 1.2, and therefore JSON as well. Anchors and aliases are supported; tags and merge keys are not.
    Yaml,
}

impl Format {
    /// Returns the format of a file by the end of its name: `.toml`, or `.yaml`, `.yml` and `.json`.
    ///
    /// ```
    /// use agcore_catalog::Format;
    ///
    /// assert_eq!(Format::of_file("models.yml"), Some(Format::Yaml));
    /// assert_eq!(Format::of_file("models.txt"), None);
    /// ```
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" | "json" => Some(Self::Yaml),
            _ => None,
        }
    }

    /// Reads a document, or returns what is wrong and where.
    pub(crate) fn parse(self, text: &str) -> Result<Node, (Place, String)> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match self {
            Self::Toml => toml::parse(text),
            Self::Yaml => parse_yaml(text),
        }
    }
}

fn parse_yaml(text: &str) -> Result<Node, (Place, String)> {
    match agcore_yaml::parse(text, &Limits::default()) {
        Ok(root) => Ok(root.unwrap_or_else(|| Node::new(Place::START, Value::Table(Vec::new())))),
        Err(error) => Err((error.place, error.problem)),
    }
}
