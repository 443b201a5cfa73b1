//! [`EncoderSettings`]: what an encoder sends.

/// Settings of an [`Encoder`](crate::Encoder). The default sends everything except the [usage fields](UsageFields) that must be
/// enabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct EncoderSettings {
    /// Whether the model's reasoning is sent.
    pub reasoning: bool,
    /// Whether events without an AG-UI type of their own are sent as `CUSTOM`: retries, compactions, progress of tools, handoffs
    /// and events of higher layers.
    pub details: bool,
    /// The usage fields that are sent beside the default ones.
    pub usage: UsageFields,
}

impl Default for EncoderSettings {
    fn default() -> Self {
        Self {
            reasoning: true,
            details: true,
            usage: UsageFields::new(),
        }
    }
}

impl EncoderSettings {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the model's reasoning is sent.
    pub fn with_reasoning(mut self, sent: bool) -> Self {
        self.reasoning = sent;
        self
    }

    /// Sets whether events without an AG-UI type of their own are sent.
    pub fn with_details(mut self, sent: bool) -> Self {
        self.details = sent;
        self
    }

    /// Sets the usage fields that are sent beside the default ones.
    pub fn with_usage(mut self, fields: UsageFields) -> Self {
        self.usage = fields;
        self
    }
}

/// Usage fields that are sent only if they are enabled.
///
/// The total, reasoning and cached tokens, the source of the cost and whether the usage is complete are always sent.
///
/// ```
/// use agcore_agui::UsageFields;
///
/// assert!(!UsageFields::new().cost);
/// assert!(UsageFields::all().model);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct UsageFields {
    /// Input tokens (with those written to a cache) and output tokens.
    pub tokens: bool,
    /// The cost.
    pub cost: bool,
    /// The time that model calls and tool calls took.
    pub latency: bool,
    /// The provider and the model.
    pub model: bool,
}

impl UsageFields {
    /// None of them.
    pub fn new() -> Self {
        Self::default()
    }

    /// All of them.
    pub fn all() -> Self {
        Self {
            tokens: true,
            cost: true,
            latency: true,
            model: true,
        }
    }

    /// Sets whether input and output tokens are sent.
    pub fn with_tokens(mut self, sent: bool) -> Self {
        self.tokens = sent;
        self
    }

    /// Sets whether the cost is sent.
    pub fn with_cost(mut self, sent: bool) -> Self {
        self.cost = sent;
        self
    }

    /// Sets whether the time that calls took is sent.
    pub fn with_latency(mut self, sent: bool) -> Self {
        self.latency = sent;
        self
    }

    /// Sets whether the provider and the model are sent.
    pub fn with_model(mut self, sent: bool) -> Self {
        self.model = sent;
        self
    }
}
