//! [`TokenUsage`]: token counts set by a test, and [`estimate_tokens`], the estimate used otherwise.

use serde::Deserialize;

/// The token counts of one reply, as Chat Completions counts them: `input` includes tokens read from and written to a
/// cache, `output` includes reasoning. Each API reports them in its own JSON members.
///
/// ```
/// use agcore_testkit::mock_server::TokenUsage;
///
/// let usage = TokenUsage::new(100, 20).with_cached(30).with_reasoning(5);
/// assert_eq!(usage.total(), 120);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
#[must_use]
pub struct TokenUsage {
    /// All prompt tokens.
    pub input: u64,
    /// All generated tokens.
    pub output: u64,
    /// Prompt tokens read from a cache, or `None` to omit the member.
    pub cached: Option<u64>,
    /// Prompt tokens written to a cache, or `None` to omit the member.
    pub cache_write: Option<u64>,
    /// Generated tokens spent on reasoning, or `None` to omit the member.
    pub reasoning: Option<u64>,
}

impl TokenUsage {
    /// Creates token counts without details.
    pub fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            ..Self::default()
        }
    }

    /// Sets the number of prompt tokens read from a cache (part of `input`).
    pub fn with_cached(mut self, tokens: u64) -> Self {
        self.cached = Some(tokens);
        self
    }

    /// Sets the number of prompt tokens written to a cache (part of `input`).
    pub fn with_cache_write(mut self, tokens: u64) -> Self {
        self.cache_write = Some(tokens);
        self
    }

    /// Sets the number of generated tokens spent on reasoning (part of `output`).
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = Some(tokens);
        self
    }

    /// Returns the sum of `input` and `output`.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Returns the number of prompt tokens neither read from nor written to a cache, which Anthropic reports as
    /// `input_tokens`.
    pub(crate) fn uncached(&self) -> u64 {
        self.input
            .saturating_sub(self.cached.unwrap_or(0))
            .saturating_sub(self.cache_write.unwrap_or(0))
    }
}

/// Estimates the number of tokens in a text: one per four characters, rounded up.
///
/// This is not a tokenizer. It only produces counts that grow with the request, so that a client that sends half of
/// the history receives different counts than one that sends all of it.
///
/// ```
/// use agcore_testkit::mock_server::estimate_tokens;
///
/// assert_eq!(estimate_tokens(""), 0);
/// assert_eq!(estimate_tokens("Hello"), 2);
/// ```
pub fn estimate_tokens(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(4)).unwrap_or(u64::MAX)
}
