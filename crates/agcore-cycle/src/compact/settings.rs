//! [`CompactionSettings`]: when and how conversations are compacted.

use std::sync::Arc;

use agcore_chat::WindowSettings;
use agcore_llm::LlmProvider;

/// When and how a conversation is compacted.
///
/// The tokens of each request are estimated before it is sent. At the threshold, old tool results are replaced by short
/// markers; if that frees too little, a model summarizes the older part. When a model rejects a conversation as too long, the
/// conversation is compacted in the same way and the request is sent once more.
///
/// ```
/// use agcore_chat::{ChatResponse, CompactionMethod, Message, WindowSettings};
/// use agcore_cycle::{CompactionSettings, CycleSettings, LlmCycle, TurnOptions};
/// use agcore_llm::{SystemClock, provider_fn};
/// # use std::sync::Arc;
/// # use agcore_chat::{AssistantMessage, ToolCall};
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("Fine.")) });
/// // Never ask a model for a summary, and leave the two newest messages alone.
/// let compaction = CompactionSettings::new()
///     .with_summaries(false)
///     .with_window(WindowSettings::new().with_context_window(32_000).with_keep_recent(2));
/// let mut cycle = LlmCycle::new(provider, SystemClock::new())
///     .with_settings(CycleSettings::new().with_compaction(compaction));
/// # let call = |id: &str| AssistantMessage::default().with_call(ToolCall::function(id, "read", "{}"));
/// # let messages = [
/// #     Message::user("Read the book."),
/// #     call("a").into(),
/// #     Message::tool("a", "word ".repeat(2_000)),
/// #     Message::assistant("I have read it."),
/// #     Message::user("Did you like it?"),
/// #     Message::assistant("Very much."),
/// # ];
/// // … a conversation with a long tool result …
/// cycle.set_messages(messages.map(Arc::new).to_vec())?;
///
/// let report = cycle.compact(TurnOptions::new()).await?;
/// assert_eq!(report.method, Some(CompactionMethod::Prune));
/// assert!(report.tokens_after < 200);
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompactionSettings {
    /// Whether conversations are compacted automatically. A requested compaction is always possible.
    pub enabled: bool,
    /// Whether a model may be asked for summaries. Otherwise only old tool results are removed.
    pub summaries: bool,
    /// The context window, its threshold, and how many recent messages are left alone.
    pub window: WindowSettings,
    /// The instructions for the summary, in place of the default ones.
    pub prompt: Option<String>,
    /// The longest summary in tokens, including reasoning. The default is 8,192; it is never more than an eighth of the window.
    pub summary_tokens: u64,
    /// The provider that writes summaries. By default, that of the conversation.
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
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether conversations are compacted automatically.
    #[must_use]
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.enabled = enabled;
        self
    }

    /// Sets whether a model may be asked for summaries.
    #[must_use]
    pub fn with_summaries(mut self, summaries: bool) -> Self {
        self.summaries = summaries;
        self
    }

    /// Sets the context window, its threshold, and how many recent messages are left alone.
    #[must_use]
    pub fn with_window(mut self, window: WindowSettings) -> Self {
        self.window = window;
        self
    }

    /// Sets the instructions for the summary.
    #[must_use]
    pub fn with_prompt(mut self, prompt: impl Into<String>) -> Self {
        self.prompt = Some(prompt.into());
        self
    }

    /// Sets the longest summary, in tokens.
    #[must_use]
    pub fn with_summary_tokens(mut self, tokens: u64) -> Self {
        self.summary_tokens = tokens;
        self
    }

    /// Sets the provider that writes summaries.
    #[must_use]
    pub fn with_provider(mut self, provider: impl LlmProvider + 'static) -> Self {
        self.provider = Some(Arc::new(provider));
        self
    }
}
