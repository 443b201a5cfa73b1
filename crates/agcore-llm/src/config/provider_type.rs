//! [`ProviderType`]: the API and dialect of a provider.

use std::{fmt, str::FromStr, sync::Arc};

use agcore_chat::text::{is_same_name, nearest};
use serde::{Deserialize, Deserializer, de};

use crate::{embedder::ModelEmbedder, provider::Capabilities};
#[cfg(feature = "_kinds")]
use agcore_wire::ResponseShape;
use agcore_wire::{
    Chat, Wire, missing_feature,
    operation::{Embed, ListModels},
};
#[cfg(feature = "openai-chat")]
use agcore_wire::{
    dialect::{self, AudioRule, CredentialHeader, Dialect},
    openai_chat::OpenAiChat,
};

use super::native::{self, Native, WireSettings};

/// The API and dialect of a provider. Parsed from a name or an alias; case, spaces, `.`, `-` and `_` are ignored.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_llm::ProviderType;
///
/// let kimi: ProviderType = "Kimi".parse()?;
/// assert_eq!(kimi.name(), "moonshot");
/// assert_eq!(kimi, "moonshot-ai".parse()?);
///
/// let error = "opnai".parse::<ProviderType>().unwrap_err();
/// assert!(error.to_string().starts_with("unknown provider type `opnai`, did you mean `openai`?"));
/// # }
/// # Ok::<(), agcore_llm::UnknownProviderType>(())
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
            (Self::OpenAiChat(this), Self::OpenAiChat(other)) => this == other,
            (Self::Native(this), Self::Native(other)) => this.name == other.name,
            #[cfg(feature = "openai-chat")]
            _ => false,
        }
    }
}

/// The type of unlisted servers that support the Chat Completions API like most compatible ones.
#[cfg(feature = "openai-chat")]
const COMPATIBLE: &str = "compatible";

/// Other names of [`COMPATIBLE`].
#[cfg(feature = "openai-chat")]
const COMPATIBLE_ALIASES: [&str; 2] = ["openai-compatible", "openai-like"];

impl ProviderType {
    /// Returns the types that this build supports.
    pub fn all() -> impl Iterator<Item = Self> {
        let native = native::ALL.iter().map(|native| Self(Api::Native(native)));
        #[cfg(feature = "openai-chat")]
        let native = native.chain(dialects());
        native
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => &dialect.name,
            Api::Native(native) => native.name,
        }
    }

    /// Returns other names of the type.
    pub fn aliases(&self) -> &'static [&'static str] {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => dialect.aliases,
            Api::Native(native) => native.aliases,
        }
    }

    /// Returns the vendor's own base URL; `None` if each customer or region has a different one.
    pub fn base_url(&self) -> Option<&'static str> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => dialect.base_url,
            Api::Native(native) => native.base_url,
        }
    }

    /// Returns whether the vendor has a server in each region, so that the settings must name one.
    ///
    /// ```
    /// # #[cfg(feature = "bedrock")] {
    /// use agcore_llm::ProviderType;
    ///
    /// assert!("bedrock".parse::<ProviderType>()?.is_regional());
    /// # }
    /// # Ok::<(), agcore_llm::UnknownProviderType>(())
    /// ```
    pub fn is_regional(&self) -> bool {
        self.regional_url("").is_some()
    }

    /// Returns the vendor's own base URL in a region, if there is one in each.
    pub(super) fn regional_url(&self, region: &str) -> Option<String> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(_) => None,
            Api::Native(native) => native.regional.map(|url| url(region)),
        }
    }

    /// Returns the environment variable that usually contains the API key; `None` if no key is needed. This crate does not
    /// read it.
    pub fn key_variable(&self) -> Option<&'static str> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => dialect.key_variable,
            Api::Native(native) => native.key_variable,
        }
    }

    /// Returns the dialect; `None` if this is not the Chat Completions API.
    #[cfg(feature = "openai-chat")]
    pub fn dialect(&self) -> Option<&Dialect> {
        match &self.0 {
            Api::OpenAiChat(dialect) => Some(dialect),
            Api::Native(_) => None,
        }
    }

    /// Returns the header that contains the key alone; `None` for a bearer token.
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

    /// Returns the path of chat requests below the base URL.
    ///
    /// ```
    /// # #[cfg(feature = "openai-chat")] {
    /// use agcore_llm::ProviderType;
    ///
    /// assert_eq!("openai".parse::<ProviderType>()?.endpoint(), "/chat/completions");
    /// # }
    /// # Ok::<(), agcore_llm::UnknownProviderType>(())
    /// ```
    pub fn endpoint(&self) -> &'static str {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(_) => "/chat/completions",
            Api::Native(native) => native.endpoint,
        }
    }

    /// Returns the path that is appended to a base URL without a path.
    pub(super) fn root(&self) -> &'static str {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(_) => "",
            Api::Native(native) => native.root,
        }
    }

    /// Returns what the API and dialect support.
    pub(super) fn capabilities(&self) -> Capabilities {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => Capabilities {
                images: dialect.content.images,
                audio: dialect.content.audio != AudioRule::Refused,
                files: dialect.content.files,
                json_object: dialect.formats.json_object,
                json_schema: dialect.formats.json_schema,
                json_schema_with_tools: dialect.formats.json_schema_with_tools,
                // A model may be thinking although no request asks for it.
                required_tool_choice: dialect.tools.choice_required.is_some() && dialect.tools.required_while_thinking,
                named_tool_choice: dialect.tools.choice_named,
                none_tool_choice: dialect.tools.choice_none,
                custom_tools: dialect.tools.custom,
                ..Capabilities::default()
            },
            Api::Native(native) => (native.capabilities)(),
        }
    }

    /// Creates the wire for chats.
    pub(super) fn chat(&self, settings: WireSettings) -> Arc<dyn Wire<Chat>> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => {
                let mut dialect = Dialect::clone(dialect);
                dialect.tools.parsed_arguments |= settings.is_other_server;
                Arc::new(OpenAiChat::new(dialect))
            }
            Api::Native(native) => (native.chat)(settings),
        }
    }

    /// Creates the wire for lists of models.
    pub(super) fn models(&self) -> Arc<dyn Wire<ListModels>> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => Arc::new(OpenAiChat::new(Dialect::clone(dialect))),
            Api::Native(native) => (native.models)(),
        }
    }

    /// Creates the wire for embeddings, if the API supports them. Also returns the maximum number of texts in a request.
    pub(super) fn embed(&self) -> Option<(Arc<dyn Wire<Embed>>, usize)> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => {
                let wire = OpenAiChat::new(Dialect::clone(dialect));
                let max_inputs = wire.max_embed_inputs();
                Some((Arc::new(wire), max_inputs))
            }
            Api::Native(native) => native.embed.map(|wire| (wire(), ModelEmbedder::DEFAULT_MAX_INPUTS)),
        }
    }

    /// Returns the form of requests and replies for models that do not chat, if the API has such models.
    #[cfg(feature = "_kinds")]
    pub fn response_shape(&self) -> Option<ResponseShape> {
        match &self.0 {
            #[cfg(feature = "openai-chat")]
            Api::OpenAiChat(dialect) => Some(match &*dialect.name {
                "qwen" => ResponseShape::dashscope(),
                _ => ResponseShape::openai(),
            }),
            Api::Native(native) => native.shape.map(|shape| shape()),
        }
    }

    /// Returns whether this is the name or an alias. Case, spaces, `.`, `-` and `_` are ignored.
    fn has_name(&self, name: &str) -> bool {
        is_same_name(self.name(), name) || self.aliases().iter().any(|alias| is_same_name(alias, name))
    }
}

/// Returns the types of all dialects, with `compatible` last.
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

/// Converts a custom dialect, for a server that differs from all known ones.
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
            .find(|known| known.has_name(name.trim()))
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

/// The error for a name that is not a provider type of this build. Its message names the feature that enables the type, or
/// lists the known ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownProviderType(Box<str>);

impl fmt::Display for UnknownProviderType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(feature) = missing_feature(self.0.trim()) {
            return write!(
                f,
                "the provider type `{}` is not part of this build: enable the feature `{feature}`",
                self.0
            );
        }
        let known: Vec<_> = ProviderType::all().collect();
        write!(f, "unknown provider type `{}`", self.0)?;
        let names = known
            .iter()
            .flat_map(|known| known.aliases().iter().copied().chain([known.name()]));
        if let Some(near) = nearest(&self.0, names) {
            write!(f, ", did you mean `{near}`?")?;
        } else {
            f.write_str(";")?;
        }
        let names: Vec<_> = known.iter().map(ProviderType::name).collect();
        write!(f, " known types: {}", names.join(", "))
    }
}

impl std::error::Error for UnknownProviderType {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_types_by_every_name_and_alias() {
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
    fn an_unknown_name_is_an_error_with_a_suggestion() {
        let error = |name: &str| name.parse::<ProviderType>().unwrap_err().to_string();
        assert!(error("deepsek").contains("did you mean `deepseek`?"));
        assert!(
            error("").ends_with("openrouter, ollama, vllm, llama.cpp, compatible"),
            "{}",
            error("")
        );
        assert!(!error("something else").contains("did you mean"));
    }

    #[cfg(not(feature = "anthropic"))]
    #[test]
    fn the_error_names_the_feature_of_a_type() {
        let error = "Claude".parse::<ProviderType>().unwrap_err();
        let expected = "the provider type `Claude` is not part of this build: enable the feature `anthropic`";
        assert_eq!(error.to_string(), expected);
    }

    #[cfg(feature = "openai-chat")]
    #[test]
    fn converts_a_custom_dialect() {
        let custom = ProviderType::from(dialect::compatible("mine"));
        assert_eq!(format!("{custom:>6}|{custom:?}"), r#"  mine|ProviderType("mine")"#);
    }
}
