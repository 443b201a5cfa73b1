//! [`ProviderInfo`]: the name and the capabilities of a provider.

use std::sync::{Arc, LazyLock};

/// The name of a provider, its model and its capabilities.
///
/// ```
/// use agcore_llm::{Capabilities, ProviderInfo};
///
/// let capabilities = Capabilities::default().with_context_window(128_000);
/// let info = ProviderInfo::new("openai", "gpt-5-mini").with_capabilities(capabilities);
/// assert_eq!((&*info.name, &*info.model), ("openai", "gpt-5-mini"));
/// assert_eq!(info.capabilities.context_window, Some(128_000));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ProviderInfo {
    /// The name of the provider in errors, spans and usage.
    pub name: Arc<str>,
    /// The model of requests that name none. Empty if there is no such model.
    pub model: Arc<str>,
    /// The capabilities of the model.
    pub capabilities: Capabilities,
}

impl ProviderInfo {
    /// Creates the description of a provider and its model, with the default capabilities.
    pub fn new(name: impl Into<Arc<str>>, model: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            model: model.into(),
            capabilities: Capabilities::default(),
        }
    }

    /// Sets the capabilities.
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Returns the description of a provider that does not describe itself: named `custom`, without a model.
    pub fn unknown() -> &'static Self {
        static UNKNOWN: LazyLock<ProviderInfo> = LazyLock::new(|| ProviderInfo::new("custom", ""));
        &UNKNOWN
    }
}

/// The features of a model that other parts depend on, for example a [`Fallback`](crate::layer::fallback::Fallback).
///
/// By default everything is supported and both numbers are unknown.
///
/// ```
/// use agcore_chat::{ChatRequest, Message, Tool, ToolDefinition};
/// use agcore_llm::{Capabilities, layer::fallback::Incompatibility};
///
/// let mut capabilities = Capabilities::default();
/// capabilities.tools = false;
///
/// let tool = Tool::from(ToolDefinition::new("clock", "Returns the time.", serde_json::json!({"type": "object"})));
/// let request = ChatRequest::new([Message::user("What time is it?")]).with_tools([tool]);
/// assert_eq!(Incompatibility::check(&request, &capabilities), Some(Incompatibility::Tools));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Capabilities {
    /// Whether replies can be streamed.
    pub streaming: bool,
    /// Whether the model can call tools.
    pub tools: bool,
    /// Whether the model may call several tools in one reply.
    pub parallel_tools: bool,
    /// Whether `response_format` may be `json_schema`.
    pub json_schema: bool,
    /// Whether `response_format` may be `json_object`.
    pub json_object: bool,
    /// Whether messages may contain images.
    pub images: bool,
    /// The context window of the model in tokens.
    pub context_window: Option<u64>,
    /// The largest number of tokens that the model generates in one reply.
    pub max_output_tokens: Option<u64>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            streaming: true,
            tools: true,
            parallel_tools: true,
            json_schema: true,
            json_object: true,
            images: true,
            context_window: None,
            max_output_tokens: None,
        }
    }
}

impl Capabilities {
    /// Sets the context window in tokens.
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the largest number of tokens in one reply.
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }
}
