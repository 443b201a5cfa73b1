//! [`File`]: what may stand in `agcore.toml`.

use std::{collections::BTreeMap, fmt, path::Path};

use agcore::llm::credential::Secret;
use serde::{
    Deserialize, Deserializer,
    de::{self, IgnoredAny},
};
use toml::Spanned;

use super::{
    fault::Fault,
    permissions::{Lists, Wish},
    place::place,
};

/// The members that a settings file may have.
pub(super) const MEMBERS: [&str; 7] = [
    "provider",
    "model",
    "base_url",
    "api_key",
    "system",
    "history",
    "permissions",
];

/// The longest name that is shown when it is none of the members.
const NAME: usize = 40;

/// The settings file.
#[derive(Debug, Default, Deserialize)]
pub(super) struct File {
    /// Whose API.
    pub(super) provider: Option<String>,
    /// The model.
    pub(super) model: Option<String>,
    /// What stands before the API's paths.
    pub(super) base_url: Option<String>,
    /// The key. The environment is the better place for it.
    #[serde(default, deserialize_with = "key")]
    pub(super) api_key: Option<Secret>,
    /// The agent's instructions.
    pub(super) system: Option<String>,
    /// Whether what is typed in a chat is kept for the next one.
    pub(super) history: Option<bool>,
    /// Which tools may run.
    #[serde(default)]
    permissions: Lists,
    /// The same, each entry with its place.
    #[serde(skip)]
    pub(super) wishes: Vec<Wish>,
    /// Members that it may not have: the name, where it can be shown, and what is wrong, with its place.
    #[serde(skip)]
    pub(super) unknown: Vec<(Option<String>, Fault)>,
}

impl File {
    /// Reads a settings file. Members that nobody knows are noted and no error.
    ///
    /// # Errors
    /// What is wrong, with line and column.
    pub(super) fn parse(path: &Path, text: &str) -> Result<Self, Fault> {
        let mut file: Self = read(path, text)?;
        file.wishes = file.permissions.wishes(path, text)?;
        let members: BTreeMap<Spanned<String>, IgnoredAny> = read(path, text)?;
        let unknown = members
            .keys()
            .filter(|name| !MEMBERS.contains(&name.get_ref().as_str()));
        file.unknown = unknown.map(|name| unknown_member(path, text, name)).collect();
        Ok(file)
    }
}

fn read<'t, T: Deserialize<'t>>(path: &Path, text: &'t str) -> Result<T, Fault> {
    toml::from_str(text).map_err(|error| {
        let place = error.span().map(|span| place(text, span.start)).unwrap_or_default();
        Fault(format!("{}{place}: {}", path.display(), error.message()))
    })
}

fn unknown_member(path: &Path, text: &str, name: &Spanned<String>) -> (Option<String>, Fault) {
    let at = place(text, name.span().start);
    let is_bare = |name: &&String| {
        name.len() <= NAME
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    // A text whose quotes are wrong can make anything a name, a key, too.
    let name = Some(name.get_ref()).filter(is_bare);
    let shown = name.map_or_else(|| "this member".to_owned(), |name| format!("unknown field `{name}`"));
    let known = MEMBERS.join(", ");
    let fault = format!("{}{at}: {shown} is no setting; there are {known}", path.display());
    (name.cloned(), Fault(fault))
}

/// A key; where it is no text, the error does not quote it.
fn key<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Secret>, D::Error> {
    deserializer.deserialize_any(Key).map(Some)
}

struct Key;

impl Key {
    fn refused<E: de::Error>(&self) -> Result<Secret, E> {
        Err(E::custom("the key has to be a text in quotes"))
    }
}

impl<'de> de::Visitor<'de> for Key {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text in quotes")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Secret, E> {
        Ok(Secret::from(text))
    }

    fn visit_bool<E: de::Error>(self, _: bool) -> Result<Secret, E> {
        self.refused()
    }

    fn visit_i64<E: de::Error>(self, _: i64) -> Result<Secret, E> {
        self.refused()
    }

    fn visit_i128<E: de::Error>(self, _: i128) -> Result<Secret, E> {
        self.refused()
    }

    fn visit_u64<E: de::Error>(self, _: u64) -> Result<Secret, E> {
        self.refused()
    }

    fn visit_u128<E: de::Error>(self, _: u128) -> Result<Secret, E> {
        self.refused()
    }

    fn visit_f64<E: de::Error>(self, _: f64) -> Result<Secret, E> {
        self.refused()
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, _: A) -> Result<Secret, A::Error> {
        self.refused()
    }

    fn visit_map<A: de::MapAccess<'de>>(self, _: A) -> Result<Secret, A::Error> {
        self.refused()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<File, Fault> {
        File::parse(Path::new("agcore.toml"), text)
    }

    fn check(text: &str, expected: &str) {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn faults_have_a_place() {
        check(
            "provider = \"openai\"\nmodel = 3\n",
            "agcore.toml:2:9: invalid type: integer",
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
    fn what_nobody_knows_is_noted_with_its_place() {
        let file = parse("provider = \"openai\"\n  nodel = \"x\"\n").unwrap();
        let (name, fault) = &file.unknown[0];
        assert_eq!(name.as_deref(), Some("nodel"));
        assert!(
            fault
                .to_string()
                .starts_with("agcore.toml:2:3: unknown field `nodel` is no setting"),
            "{fault}"
        );
        let file = parse("\"api key sk-1\" = 1\n").unwrap();
        assert!(!file.unknown[0].1.to_string().contains("sk-1"));
    }

    #[test]
    fn a_key_that_is_no_text_is_not_quoted() {
        for wrong in [
            "8675309",
            "8675309.5",
            "[8675309]",
            "{ a = 8675309 }",
            "8675-30-90",
            "true",
        ] {
            let error = parse(&format!("api_key = {wrong}")).unwrap_err().to_string();
            assert!(
                error.starts_with("agcore.toml:1:") && !error.contains("8675"),
                "{error}"
            );
        }
        let error = parse("[permissions]\nallow = ['''api_key = \"sk-1\":''']")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("the entry is no name") && !error.contains("sk-1"),
            "{error}"
        );
    }

    #[test]
    fn reads_what_is_there() {
        let file = parse("model = \"m\"\napi_key = \"k\"\nhistory = false").unwrap();
        assert_eq!(
            (file.model.as_deref(), file.provider, file.history),
            (Some("m"), None, Some(false))
        );
        assert!(!format!("{:?}", file.api_key).contains('k'), "a key is never shown");
        assert!(file.unknown.is_empty());
    }
}
