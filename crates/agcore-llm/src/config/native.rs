//! [`Native`]: APIs of a single vendor, with their addresses and keys.
//!
//! Every API except Chat Completions, whose vendors are dialects, is registered here.

use std::sync::Arc;

use crate::provider::Capabilities;
#[cfg(feature = "_kinds")]
use agcore_wire::ResponseShape;
use agcore_wire::{
    Chat, Wire,
    operation::{Embed, ListModels},
};

/// An API other than Chat Completions. Without a base URL in the settings, it is the vendor's own server.
pub(super) struct Native {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    /// `None` if it depends on the region.
    pub(super) base_url: Option<&'static str>,
    /// Returns the base URL in a region, if the vendor has a server in each.
    pub(super) regional: Option<fn(&str) -> String>,
    /// The path that is appended to a base URL without a path, as the vendor's own libraries do.
    pub(super) root: &'static str,
    /// The path of chat requests, which is removed from a base URL that contains it.
    pub(super) endpoint: &'static str,
    pub(super) key_variable: Option<&'static str>,
    /// The header that contains the key alone; `None` for a bearer token.
    pub(super) key_header: Option<&'static str>,
    pub(super) capabilities: fn() -> Capabilities,
    /// Creates the wire for chats.
    pub(super) chat: fn(WireSettings) -> Arc<dyn Wire<Chat>>,
    pub(super) models: fn() -> Arc<dyn Wire<ListModels>>,
    /// Creates the wire for embeddings, if the API supports them.
    pub(super) embed: Option<NewEmbedWire>,
    /// Returns the form of requests for models that do not chat, if the server has such models.
    #[cfg(feature = "_kinds")]
    pub(super) shape: Option<fn() -> ResponseShape>,
}

/// The settings of a wire for chats.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(
    not(feature = "all-apis"),
    allow(dead_code, reason = "each API uses some of these settings")
)]
pub(super) struct WireSettings {
    /// The context window in the settings.
    pub(super) window: Option<u64>,
    /// Whether the wire places cache marks by itself.
    pub(super) automatic_caching: bool,
    /// Whether the server is not the vendor's own. Such servers parse the arguments of calls in the history.
    pub(super) is_other_server: bool,
}

type NewEmbedWire = fn() -> Arc<dyn Wire<Embed>>;

/// The APIs of this build.
pub(super) static ALL: &[Native] = &[
    #[cfg(feature = "anthropic")]
    ANTHROPIC,
    #[cfg(feature = "openai-responses")]
    OPENAI_RESPONSES,
    #[cfg(feature = "ollama")]
    OLLAMA,
    #[cfg(feature = "gemini")]
    GEMINI,
    #[cfg(feature = "bedrock")]
    BEDROCK,
];

#[cfg(feature = "anthropic")]
const ANTHROPIC: Native = Native {
    name: "anthropic",
    aliases: &["claude"],
    base_url: Some("https://api.anthropic.com/v1"),
    regional: None,
    root: "/v1",
    endpoint: "/messages",
    key_variable: Some("ANTHROPIC_API_KEY"),
    key_header: Some("x-api-key"),
    capabilities: || Capabilities {
        json_object: false,
        audio: false,
        custom_tools: false,
        ..Capabilities::default()
    },
    chat: |settings| {
        let wire = agcore_wire::anthropic::Anthropic::new();
        Arc::new(wire.with_automatic_caching(settings.automatic_caching))
    },
    models: || Arc::new(agcore_wire::anthropic::Anthropic::new()),
    embed: None,
    #[cfg(feature = "_kinds")]
    shape: None,
};

#[cfg(feature = "openai-responses")]
const OPENAI_RESPONSES: Native = Native {
    name: "openai-responses",
    aliases: &["responses"],
    base_url: Some("https://api.openai.com/v1"),
    regional: None,
    root: "/v1",
    endpoint: "/responses",
    key_variable: Some("OPENAI_API_KEY"),
    key_header: None,
    capabilities: || Capabilities {
        audio: false,
        ..Capabilities::default()
    },
    chat: |settings| {
        let wire = agcore_wire::openai_responses::OpenAiResponses::new();
        Arc::new(wire.with_parsed_arguments(settings.is_other_server))
    },
    models: || Arc::new(agcore_wire::openai_responses::OpenAiResponses::new()),
    embed: None,
    #[cfg(feature = "_kinds")]
    shape: Some(ResponseShape::openai),
};

/// The server silently truncates prompts to the context window in the request, so the one in the settings is sent.
#[cfg(feature = "ollama")]
const OLLAMA: Native = Native {
    name: "ollama-native",
    aliases: &["ollama-api"],
    base_url: Some("http://localhost:11434/api"),
    regional: None,
    root: "/api",
    endpoint: "/chat",
    key_variable: None,
    key_header: None,
    // The grammar of a schema holds from the first token on, so that no tool would ever be called.
    capabilities: || Capabilities {
        json_schema_with_tools: false,
        required_tool_choice: false,
        named_tool_choice: false,
        none_tool_choice: false,
        custom_tools: false,
        hosted_tools: false,
        audio: false,
        files: false,
        ..Capabilities::default()
    },
    chat: |settings| {
        let wire = agcore_wire::ollama::Ollama::new();
        Arc::new(match settings.window {
            Some(window) => wire.with_num_ctx(window),
            None => wire,
        })
    },
    models: || Arc::new(agcore_wire::ollama::Ollama::new()),
    embed: Some(|| Arc::new(agcore_wire::ollama::Ollama::new())),
    #[cfg(feature = "_kinds")]
    shape: None,
};

/// The model is a part of the path, so that the endpoint is the list of models. Vertex AI has the same API at other base URLs.
#[cfg(feature = "gemini")]
const GEMINI: Native = Native {
    name: "gemini-native",
    aliases: &["gemini-api"],
    base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
    regional: None,
    root: "/v1beta",
    endpoint: "/models",
    key_variable: Some("GEMINI_API_KEY"),
    key_header: Some("x-goog-api-key"),
    // Only models from Gemini 3 on accept a schema together with functions.
    capabilities: || Capabilities {
        json_schema_with_tools: false,
        custom_tools: false,
        ..Capabilities::default()
    },
    chat: |_| Arc::new(agcore_wire::gemini::Gemini::new()),
    models: || Arc::new(agcore_wire::gemini::Gemini::new()),
    embed: Some(|| Arc::new(agcore_wire::gemini::Gemini::new())),
    #[cfg(feature = "_kinds")]
    shape: None,
};

/// The model is a part of the path, so that the endpoint is its beginning. The key is an API key; the keys of an account sign
/// requests in its place, as the credential of the settings.
#[cfg(feature = "bedrock")]
const BEDROCK: Native = Native {
    name: "bedrock",
    aliases: &["aws", "amazon-bedrock", "aws-bedrock"],
    base_url: None,
    regional: Some(|region| {
        let end = if region.starts_with("cn-") { ".cn" } else { "" };
        format!("https://bedrock-runtime.{region}.amazonaws.com{end}")
    }),
    root: "",
    endpoint: "/model",
    key_variable: Some("AWS_BEARER_TOKEN_BEDROCK"),
    key_header: None,
    // Only some models can be bound to a schema or be forced to call a tool.
    capabilities: || Capabilities {
        json_object: false,
        json_schema: false,
        json_schema_with_tools: false,
        required_tool_choice: false,
        named_tool_choice: false,
        none_tool_choice: false,
        custom_tools: false,
        ..Capabilities::default()
    },
    chat: |settings| {
        let wire = agcore_wire::bedrock::Bedrock::new();
        Arc::new(wire.with_automatic_caching(settings.automatic_caching))
    },
    models: || Arc::new(agcore_wire::bedrock::Bedrock::new()),
    embed: None,
    #[cfg(feature = "_kinds")]
    shape: None,
};
