//! Documents: TOML and YAML as one JSON value, with the place of each member.

mod places;
mod toml;
mod yaml;

use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::places::{Places, Wrong};
#[doc(no_inline)]
pub use agcore_yaml::Place;

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// TOML.
    Toml,
    /// YAML 1.2, and therefore JSON as well. Anchors, aliases, tags and merge keys are not supported.
    Yaml,
}

impl Format {
    /// Returns the format of a file by the end of its name: `.toml`, or `.yaml`, `.yml` and `.json`.
    ///
    /// ```
    /// use agcore_eval::Format;
    ///
    /// assert_eq!(Format::of_file("suite.yml"), Some(Format::Yaml));
    /// assert_eq!(Format::of_file("suite.txt"), None);
    /// ```
    pub fn of_file(name: &str) -> Option<Self> {
        let (_, extension) = name.rsplit_once('.')?;
        match extension.to_ascii_lowercase().as_str() {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" | "json" => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Reads a document into a type.
pub(crate) fn read<T: DeserializeOwned>(format: Format, text: &str) -> Result<(T, Places), Wrong> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (value, places): (Value, Places) = match format {
        Format::Toml => toml::parse(text)?,
        Format::Yaml => yaml::parse(text)?,
    };
    let read = serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let problem = error.into_inner().to_string();
        if let Some((name, _)) = problem
            .strip_prefix("missing field `")
            .and_then(|rest| rest.split_once('`'))
        {
            return Wrong {
                place: places.of(&path),
                member: Places::member(&path, name).trim_start_matches('.').to_owned(),
                problem: "it is missing; add it".to_owned(),
            };
        }
        // The path of an unknown member is that of the table that contains it.
        let unknown = problem
            .strip_prefix("unknown field `")
            .and_then(|rest| rest.split_once('`'))
            .map(|(name, _)| Places::member(&path, name));
        let member = unknown.filter(|member| places.knows(member)).unwrap_or(path);
        Wrong {
            place: places.of(&member),
            member: member.trim_start_matches('.').to_owned(),
            problem,
        }
    });
    read.map(|read| (read, places))
}
