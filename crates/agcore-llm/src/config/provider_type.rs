//! [`ProviderType`]: which API a provider speaks, and in which dialect.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, de};

use crate::{
    dialect::{self, Dialect},
    near::nearest,
};

/// Which API a provider speaks, and in which dialect. Parsed from a name or an alias, whatever their case and dashes.
///
/// ```
/// use agcore_llm::config::ProviderType;
///
/// let kimi: ProviderType = "Kimi".parse()?;
/// assert_eq!(kimi.name(), "moonshot");
/// assert_eq!(kimi, "moonshot-ai".parse()?);
///
/// let error = "opnai".parse::<ProviderType>().unwrap_err();
/// assert!(error.to_string().starts_with("there is no provider type `opnai`; did you mean `openai`?"));
/// # Ok::<(), agcore_llm::config::UnknownProviderType>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ProviderType(Arc<Dialect>);

/// The type of servers that nobody here knows, but that speak the API as most compatible ones do.
const COMPATIBLE: &str = "compatible";

/// Other names of [`COMPATIBLE`].
const COMPATIBLE_ALIASES: [&str; 2] = ["openai-compatible", "openai-like"];

impl ProviderType {
    /// Every type that has a name, `compatible` last.
    pub fn all() -> impl Iterator<Item = Self> {
        dialect::ALL
            .iter()
            .map(|dialect| dialect())
            .chain([compatible()])
            .map(Self::from)
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// How it speaks the Chat Completions API.
    pub fn dialect(&self) -> &Dialect {
        &self.0
    }
}

fn compatible() -> Dialect {
    let mut dialect = dialect::compatible(COMPATIBLE);
    dialect.aliases = &COMPATIBLE_ALIASES;
    dialect
}

/// A dialect of one's own, for a server that differs from all known ones.
impl From<Dialect> for ProviderType {
    fn from(dialect: Dialect) -> Self {
        Self(Arc::new(dialect))
    }
}

impl FromStr for ProviderType {
    type Err = UnknownProviderType;

    fn from_str(name: &str) -> Result<Self, UnknownProviderType> {
        Self::all()
            .find(|known| known.0.is_called(name.trim()))
            .ok_or_else(|| UnknownProviderType(name.into()))
    }
}

impl fmt::Display for ProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for ProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProviderType").field(&self.name()).finish()
    }
}

impl<'de> Deserialize<'de> for ProviderType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TypeVisitor;

        impl de::Visitor<'_> for TypeVisitor {
            type Value = ProviderType;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a provider type, such as \"openai\"")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<ProviderType, E> {
                name.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(TypeVisitor)
    }
}

/// A name that no provider type has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProviderType(Box<str>);

impl fmt::Display for UnknownProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known: Vec<_> = ProviderType::all().collect();
        write!(f, "there is no provider type `{}`; ", self.0)?;
        let names = known
            .iter()
            .flat_map(|known| known.0.aliases.iter().copied().chain([known.name()]));
        if let Some(near) = nearest(&self.0, names) {
            write!(f, "did you mean `{near}`? ")?;
        }
        let names: Vec<_> = known.iter().map(ProviderType::name).collect();
        write!(f, "known are: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownProviderType {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_and_alias_finds_its_type() {
        for known in ProviderType::all() {
            let parse = |name: &str| name.parse::<ProviderType>().unwrap();
            assert_eq!(parse(&known.to_string()), known);
            assert_eq!(parse(&known.to_string().to_uppercase()), known);
            for alias in known.0.aliases {
                assert_eq!(parse(alias), known, "{alias}");
            }
        }
    }

    #[test]
    fn an_unknown_name_is_an_error_that_helps() {
        let error = |name: &str| name.parse::<ProviderType>().unwrap_err().to_string();
        assert!(error("deepsek").contains("did you mean `deepseek`?"));
        assert!(
            error("").ends_with("openrouter, ollama, vllm, llama.cpp, compatible"),
            "{}",
            error("")
        );
        assert!(!error("something else").contains("did you mean"));
    }

    #[test]
    fn a_dialect_of_ones_own_is_a_type() {
        let mine = ProviderType::from(dialect::compatible("mine"));
        assert_eq!(format!("{mine:>6}|{mine:?}"), r#"  mine|ProviderType("mine")"#);
    }
}
