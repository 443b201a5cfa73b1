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
    /// Whether tools may be offered together with the response format `json_schema`. Some servers then never call a
    /// tool, and others refuse the request.
    pub json_schema_with_tools: bool,
    /// Whether `tool_choice` can require a call.
    pub required_tool_choice: bool,
    /// Whether `tool_choice` can name one tool.
    pub named_tool_choice: bool,
    /// Whether `tool_choice` can forbid calls of the tools that are offered.
    pub none_tool_choice: bool,
    /// Whether custom tools, whose input is free text, can be offered.
    pub custom_tools: bool,
    /// Whether hosted tools, which the server runs, can be offered.
    pub hosted_tools: bool,
    /// Whether messages may contain images.
    pub images: bool,
    /// Whether messages may contain audio.
    pub audio: bool,
    /// Whether messages may contain files.
    pub files: bool,
    /// The context window of the model in tokens.
    pub context_window: Option<u64>,
    /// The largest number of tokens that the model generates in one reply.
    pub max_output_tokens: Option<u64>,
    /// The token limit that is sent if a request has none, where the API demands one.
    pub default_output_tokens: Option<u64>,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            streaming: true,
            tools: true,
            parallel_tools: true,
            json_schema: true,
            json_object: true,
            json_schema_with_tools: true,
            required_tool_choice: true,
            named_tool_choice: true,
            none_tool_choice: true,
            custom_tools: true,
            hosted_tools: true,
            images: true,
            audio: true,
            files: true,
            context_window: None,
            max_output_tokens: None,
            default_output_tokens: None,
        }
    }
}

impl Capabilities {
    /// Sets the context window in tokens.
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the token limit that is sent if a request has none.
    pub fn with_default_output_tokens(mut self, tokens: u64) -> Self {
        self.default_output_tokens = Some(tokens);
        self
    }

    /// Sets the largest number of tokens in one reply.
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }

    /// Returns the features that both have, and the smaller of the known numbers.
    ///
    /// ```
    /// use agcore_llm::Capabilities;
    ///
    /// let mut other = Capabilities::default().with_context_window(32_000);
    /// other.json_schema = false;
    /// let common = Capabilities::default().with_context_window(128_000).intersection(&other);
    /// assert!(common.tools && !common.json_schema);
    /// assert_eq!(common.context_window, Some(32_000));
    /// ```
    pub fn intersection(&self, other: &Self) -> Self {
        let smaller = |this: Option<u64>, other: Option<u64>| match (this, other) {
            (Some(this), Some(other)) => Some(this.min(other)),
            (this, other) => this.or(other),
        };
        Self {
            streaming: self.streaming && other.streaming,
            tools: self.tools && other.tools,
            parallel_tools: self.parallel_tools && other.parallel_tools,
            json_schema: self.json_schema && other.json_schema,
            json_object: self.json_object && other.json_object,
            json_schema_with_tools: self.json_schema_with_tools && other.json_schema_with_tools,
            required_tool_choice: self.required_tool_choice && other.required_tool_choice,
            named_tool_choice: self.named_tool_choice && other.named_tool_choice,
            none_tool_choice: self.none_tool_choice && other.none_tool_choice,
            custom_tools: self.custom_tools && other.custom_tools,
            hosted_tools: self.hosted_tools && other.hosted_tools,
            images: self.images && other.images,
            audio: self.audio && other.audio,
            files: self.files && other.files,
            context_window: smaller(self.context_window, other.context_window),
            max_output_tokens: smaller(self.max_output_tokens, other.max_output_tokens),
            default_output_tokens: smaller(self.default_output_tokens, other.default_output_tokens),
        }
    }
}
