//! [`ProviderType`]: which API a provider speaks, and in which dialect.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Deserializer, de};

#[cfg(feature = "openai-chat")]
use crate::{
    dialect::{self, CredentialHeader, Dialect},
    wire::openai_chat::OpenAiChat,
};
use crate::{
    embedder::ModelEmbedder,
    near::{is_same_name, nearest},
    provider::Capabilities,
    wire::{Chat, Wire, embed::Embed, models::ListModels},
};

use super::native::{self, Native};

/// Which API a provider speaks, and in which dialect. Parsed from a name or an alias, whatever their case and dashes.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_llm::config::ProviderType;
///
/// let kimi: ProviderType = "Kimi".parse()?;
/// assert_eq!(kimi.name(), "moonshot");
/// assert_eq!(kimi, "moonshot-ai".parse()?);
///
/// let error = "opnai".parse::<ProviderType>().unwrap_err();
/// assert!(error.to_string().starts_with("there is no provider type `opnai`; did you mean `openai`?"));
/// # }
/// # Ok::<(), agcore_llm::config::UnknownProviderType>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct ProviderType(Api);

#[derive(Clone)]
enum Api {
    #[cfg(feature = "openai-chat")]
    OpenAiChat(Arc<Dialect>),
    Native(&'static Native),
}

impl PartialEq for Api {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            #[cfg(feature = "openai-chat")]
            (Self::OpenAiChat(mine), Self::OpenAiChat(other)) => mine == other,
            (Self::Native(mine), Self::Native(other)) => mine.name == other.name,
            #[cfg(feature = "openai-chat")]
            _ => false,
        }
    }
}

/// The type of servers that nobody here knows, but that speak the API as most compatible ones do.
#[cfg(feature = "openai-chat")]
const COMPATIBLE: &str = "compatible";

/// Other names of [`COMPATIBLE`].
#[cfg(feature = "openai-chat")]
const COMPATIBLE_ALIASES: [&str; 2] = ["openai-compatible", "openai-like"];

impl ProviderType {
    /// Every type of this build that has a name.
    pub fn all() -> impl Iterator<Item = Self> {
        let native = native::ALL.iter().map(|native| Self(Api::Native(native)));
        #[cfg(feature = "openai-chat")]
        let native = native.chain(dialects());
        native
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => &dialect.name,
            Api::Native(native) => native.name,
        }
    }

    /// Other names under which it is found.
    pub fn aliases(&self) -> &'static [&'static str] {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => dialect.aliases,
            Api::Native(native) => native.aliases,
        }
    }

    /// The vendor's own base URL; none where every customer has another.
    pub fn base_url(&self) -> Option<&'static str> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => dialect.base_url,
            Api::Native(native) => Some(native.base_url),
        }
    }

    /// The environment variable that usually holds the key; none where no key is needed. Nobody here reads it.
    pub fn key_variable(&self) -> Option<&'static str> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => dialect.key_variable,
            Api::Native(native) => native.key_variable,
        }
    }

    /// How it speaks the Chat Completions API; none when it speaks another one.
    #[cfg(feature = "openai-chat")]
    pub fn dialect(&self) -> Option<&Dialect> {
        match &self.0 {
            Api::OpenAiChat(dialect) => Some(dialect),
            Api::Native(_) => None,
        }
    }

    /// The header that holds the bare key; a bearer token when absent.
    pub(super) fn key_header(&self) -> Option<&'static str> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => match dialect.credential {
                CredentialHeader::Bearer => None,
                CredentialHeader::Named(name) => Some(name),
            },
            Api::Native(native) => native.key_header,
        }
    }

    /// What people copy along with the base URL, and what they leave out of it where the vendor's libraries add it.
    pub(super) fn endpoint_and_root(&self) -> (&'static str, &'static str) {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(_) => ("/chat/completions", ""),
            Api::Native(native) => (native.endpoint, native.root),
        }
    }

    pub(super) fn capabilities(&self) -> Capabilities {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => Capabilities {
                images: dialect.content.images,
                json_object: dialect.formats.json_object,
                json_schema: dialect.formats.json_schema,
                ..Capabilities::default()
            },
            Api::Native(native) => (native.capabilities)(),
        }
    }

    /// The wire for chats, given the window that is wanted.
    pub(super) fn chat(&self, window: Option<u64>) -> Arc<dyn Wire<Chat>> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => Arc::new(OpenAiChat::new(Dialect::clone(dialect))),
            Api::Native(native) => (native.chat)(window),
        }
    }

    pub(super) fn models(&self) -> Arc<dyn Wire<ListModels>> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => Arc::new(OpenAiChat::new(Dialect::clone(dialect))),
            Api::Native(native) => (native.models)(),
        }
    }

    /// The wire for embeddings with the most texts of one request, where the API has them.
    pub(super) fn embed(&self) -> Option<(Arc<dyn Wire<Embed>>, usize)> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => {
                let wire = OpenAiChat::new(Dialect::clone(dialect));
                let most = wire.max_embed_inputs();
                Some((Arc::new(wire), most))
            }
            Api::Native(native) => native.embed.map(|wire| (wire(), ModelEmbedder::DEFAULT_MAX_INPUTS)),
        }
    }

    /// Whether this name or alias is its, whatever the case and the dashes.
    fn is_called(&self, name: &str) -> bool {
        is_same_name(self.name(), name) || self.aliases().iter().any(|alias| is_same_name(alias, name))
    }
}

/// Every vendor's dialect, `compatible` last.
#[cfg(feature = "openai-chat")]
fn dialects() -> impl Iterator<Item = ProviderType> {
    let vendors = dialect::ALL.iter().map(|dialect| dialect());
    vendors.chain([compatible()]).map(ProviderType::from)
}

#[cfg(feature = "openai-chat")]
fn compatible() -> Dialect {
    let mut dialect = dialect::compatible(COMPATIBLE);
    dialect.aliases = &COMPATIBLE_ALIASES;
    dialect
}

/// A dialect of one's own, for a server that differs from all known ones.
#[cfg(feature = "openai-chat")]
impl From<Dialect> for ProviderType {
    fn from(dialect: Dialect) -> Self {
        Self(Api::OpenAiChat(Arc::new(dialect)))
    }
}

impl FromStr for ProviderType {
    type Err = UnknownProviderType;

    fn from_str(name: &str) -> Result<Self, UnknownProviderType> {
        Self::all()
            .find(|known| known.is_called(name.trim()))
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
            .flat_map(|known| known.aliases().iter().copied().chain([known.name()]));
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
            for alias in known.aliases() {
                assert_eq!(parse(alias), known, "{alias}");
            }
        }
    }

    #[cfg(feature = "openai-chat")]
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

    #[cfg(feature = "openai-chat")]
    #[test]
    fn a_dialect_of_ones_own_is_a_type() {
        let mine = ProviderType::from(dialect::compatible("mine"));
        assert_eq!(format!("{mine:>6}|{mine:?}"), r#"  mine|ProviderType("mine")"#);
    }
}
