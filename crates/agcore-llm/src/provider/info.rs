//! [`ProviderInfo`]: what a provider is called and what it can do.

use std::sync::Arc;

/// What a provider is called and what it can do.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProviderInfo {
    /// The provider's name, in errors, spans and usage.
    pub name: Arc<str>,
    /// The model that is asked when a request names none; empty when there is none.
    pub model: Arc<str>,
    /// What it can do.
    pub capabilities: Capabilities,
}

impl ProviderInfo {
    /// A provider and its model, with the default capabilities.
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

    /// A provider that tells nothing of itself.
    pub fn unknown() -> &'static Self {
        static UNKNOWN: std::sync::LazyLock<ProviderInfo> =
            std::sync::LazyLock::new(|| ProviderInfo::new("custom", ""));
        &UNKNOWN
    }
}

/// What a provider's model can do, as far as anything depends on it. Unknown numbers are `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Capabilities {
    /// Replies can be streamed.
    pub streaming: bool,
    /// Tools can be offered.
    pub tools: bool,
    /// The model may call several tools in one reply.
    pub parallel_tools: bool,
    /// `response_format` may be `json_schema`.
    pub json_schema: bool,
    /// `response_format` may be `json_object`.
    pub json_object: bool,
    /// Pictures can be sent.
    pub images: bool,
    /// The model's window in tokens.
    pub context_window: Option<u64>,
    /// The most tokens the model generates in one reply.
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
    /// Sets the model's window in tokens.
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the most tokens the model generates in one reply.
    pub fn with_max_output_tokens(mut self, tokens: u64) -> Self {
        self.max_output_tokens = Some(tokens);
        self
    }
}
