//! [`File`]: what may stand in `agcore.toml`.

use std::path::Path;

use agcore::llm::credential::Secret;
use serde::Deserialize;

use super::{
    permissions::{Lists, Wish},
    place::place,
};
use crate::exit::Failure;

/// The settings file. An unknown member is an error.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Whose API.
    pub(super) provider: Option<String>,
    /// The model.
    pub(super) model: Option<String>,
    /// What stands before `/chat/completions`.
    pub(super) base_url: Option<String>,
    /// The key. The environment is the better place for it.
    pub(super) api_key: Option<Secret>,
    /// The agent's instructions.
    pub(super) system: Option<String>,
    /// Which tools may run.
    #[serde(default)]
    permissions: Lists,
    /// The same, each entry with its place.
    #[serde(skip)]
    pub(super) wishes: Vec<Wish>,
}

impl File {
    /// Reads a settings file.
    ///
    /// # Errors
    /// What is wrong, with line and column.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Failure> {
        let mut file: Self = toml::from_str(text).map_err(|error| {
            let place = error.span().map(|span| place(text, span.start)).unwrap_or_default();
            Failure::usage(format!("{}{place}: {}", path.display(), error.message()))
        })?;
        file.wishes = file.permissions.wishes(path, text)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let error = File::parse(Path::new("agcore.toml"), text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn faults_have_a_place() {
        check(
            "provider = \"openai\"\nmodel = 3\n",
            "agcore.toml:2:9: invalid type: integer",
        );
        check(
            "provider = \"openai\"\n  nodel = \"x\"\n",
            "agcore.toml:2:3: unknown field `nodel`",
        );
        check("model = \"x", "agcore.toml:1:");
        check("[permissions]\nask = ['a', 3]\n", "agcore.toml:2:13: invalid type");
        check("[permissions]\nallow = ['']\n", "agcore.toml:2:10: the entry is empty");
        check(
            "[permissions]\ndeny = [\n  'a b:c']\n",
            "agcore.toml:3:3: \"a b:c\" is no permission; use read, write",
        );
        check("[permissions]\nalow = []\n", "agcore.toml:2:1: unknown field `alow`");
    }

    #[test]
    fn reads_what_is_there() {
        let file = File::parse(Path::new("agcore.toml"), "model = \"m\"\napi_key = \"k\"").unwrap();
        assert_eq!((file.model.as_deref(), file.provider), (Some("m"), None));
        assert!(!format!("{:?}", file.api_key).contains('k'), "a key is never shown");
    }
}
