//! [`CompactionSettings`]: when and how conversations are made shorter.

use std::sync::Arc;

use agcore_chat::WindowSettings;

use agcore_llm::LlmProvider;

/// When and how a conversation is made shorter.
///
/// Before each request its tokens are estimated. At the threshold old tool results become short markers; where that frees
/// too little, a model sums up the older part. When a model says that a conversation is too long for it, the same is done
/// and the request made once more.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompactionSettings {
    /// Whether it happens by itself; asked for by hand it always does.
    pub enabled: bool,
    /// Whether a model may be asked for summaries; without, only old tool results are taken out.
    pub summaries: bool,
    /// When the window is full, and how much is left alone.
    pub window: WindowSettings,
    /// What the model is told to do, in place of our own words.
    pub prompt: Option<String>,
    /// The longest summary, in tokens, reasoning included; 8 192, and never more than an eighth of the window.
    pub summary_tokens: u64,
    /// Who sums up; none is the conversation's own model.
    pub provider: Option<Arc<dyn LlmProvider>>,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            summaries: true,
            window: WindowSettings::default(),
            prompt: None,
            summary_tokens: 8_192,
            provider: None,
        }
    }
}

impl CompactionSettings {
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Says whether it happens by itself.
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Says whether a model may be asked for summaries.
    pub fn with_summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }

    /// Sets when the window is full, and how much is left alone.
    pub fn with_window(mut self, window: WindowSettings) -> Self {
        self.window = window;
        self
    }

    /// Sets what the model is told to do.
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Sets the longest summary, in tokens.
    pub fn with_summary_tokens(mut self, tokens: u64) -> Self {
        self.summary_tokens = tokens;
        self
    }

    /// Sets who sums up.
    pub fn with_provider(mut self, provider: impl LlmProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }
}
