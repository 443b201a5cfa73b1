//! [`Native`]: APIs that one vendor speaks, where they are and what they ask for.

use std::sync::Arc;

use crate::{
    provider::Capabilities,
    wire::{Chat, Wire, embed::Embed, models::ListModels},
};

/// An API that is no dialect of Chat Completions, at its vendor's own server unless the settings say otherwise.
pub(super) struct Native {
    pub(super) name: &'static str,
    pub(super) aliases: &'static [&'static str],
    pub(super) base_url: &'static str,
    /// What follows a base URL that is a bare host, as the vendor's own libraries take it.
    pub(super) root: &'static str,
    /// What people copy along with the base URL.
    pub(super) endpoint: &'static str,
    pub(super) key_variable: Option<&'static str>,
    /// The header that holds the bare key; a bearer token when absent.
    pub(super) key_header: Option<&'static str>,
    pub(super) capabilities: fn() -> Capabilities,
    /// The wire for chats, given the window that is wanted.
    pub(super) chat: fn(Option<u64>) -> Arc<dyn Wire<Chat>>,
    pub(super) models: fn() -> Arc<dyn Wire<ListModels>>,
    /// The wire for embeddings, where the API has them.
    pub(super) embed: Option<MakeEmbed>,
}

/// Makes a wire for embeddings.
type MakeEmbed = fn() -> Arc<dyn Wire<Embed>>;

/// Every one of this build.
pub(super) static ALL: &[Native] = &[
    #[cfg(feature = "anthropic")]
    ANTHROPIC,
    #[cfg(feature = "openai-responses")]
    OPENAI_RESPONSES,
    #[cfg(feature = "ollama")]
    OLLAMA,
];

#[cfg(feature = "anthropic")]
const ANTHROPIC: Native = Native {
    name: "anthropic",
    aliases: &["claude"],
    base_url: "https://api.anthropic.com/v1",
    root: "/v1",
    endpoint: "/messages",
    key_variable: Some("ANTHROPIC_API_KEY"),
    key_header: Some("x-api-key"),
    capabilities: || Capabilities {
        json_object: false,
        ..Capabilities::default()
    },
    chat: |_| Arc::new(crate::wire::anthropic::Anthropic::new()),
    models: || Arc::new(crate::wire::anthropic::Anthropic::new()),
    embed: None,
};

#[cfg(feature = "openai-responses")]
const OPENAI_RESPONSES: Native = Native {
    name: "openai-responses",
    aliases: &["responses"],
    base_url: "https://api.openai.com/v1",
    root: "/v1",
    endpoint: "/responses",
    key_variable: Some("OPENAI_API_KEY"),
    key_header: None,
    capabilities: Capabilities::default,
    chat: |_| Arc::new(crate::wire::openai_responses::OpenAiResponses::new()),
    models: || Arc::new(crate::wire::openai_responses::OpenAiResponses::new()),
    embed: None,
};

/// The server cuts a prompt silently to the window it was told, so the settings' window is told.
#[cfg(feature = "ollama")]
const OLLAMA: Native = Native {
    name: "ollama-native",
    aliases: &["ollama-api"],
    base_url: "http://localhost:11434/api",
    root: "/api",
    endpoint: "/chat",
    key_variable: None,
    key_header: None,
    capabilities: Capabilities::default,
    chat: |window| {
        let wire = crate::wire::ollama::Ollama::new();
        Arc::new(match window {
            Some(window) => wire.with_num_ctx(window),
            None => wire,
        })
    },
    models: || Arc::new(crate::wire::ollama::Ollama::new()),
    embed: Some(|| Arc::new(crate::wire::ollama::Ollama::new())),
};
