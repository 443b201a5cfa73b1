//! Token counts: those a test fixes, and the estimate the server makes from lengths.

use serde::Deserialize;

/// Token counts of one reply, counted the way the chat API does: `input` holds cached and cache-writing tokens too,
/// `output` holds reasoning. Each wire spells them in its own members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TokenUsage {
    /// All prompt tokens.
    pub input: u64,
    /// All generated tokens.
    pub output: u64,
    /// Prompt tokens read from a cache; `None` leaves the member out.
    pub cached: Option<u64>,
    /// Prompt tokens written to a cache; `None` leaves the member out.
    pub cache_write: Option<u64>,
    /// Generated tokens that were reasoning; `None` leaves the member out.
    pub reasoning: Option<u64>,
}

impl TokenUsage {
    /// Counts without details.
    pub fn new(input: u64, output: u64) -> Self {
        Self {
            input,
            output,
            ..Self::default()
        }
    }

    /// Prompt tokens read from a cache (part of `input`).
    #[must_use]
    pub fn with_cached(mut self, tokens: u64) -> Self {
        self.cached = Some(tokens);
        self
    }

    /// Prompt tokens written to a cache (part of `input`).
    #[must_use]
    pub fn with_cache_write(mut self, tokens: u64) -> Self {
        self.cache_write = Some(tokens);
        self
    }

    /// Generated tokens that were reasoning (part of `output`).
    #[must_use]
    pub fn with_reasoning(mut self, tokens: u64) -> Self {
        self.reasoning = Some(tokens);
        self
    }

    /// `input` and `output` together.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Prompt tokens that touched no cache, which is what Anthropic calls `input_tokens`.
    pub(crate) fn uncached(&self) -> u64 {
        self.input
            .saturating_sub(self.cached.unwrap_or(0))
            .saturating_sub(self.cache_write.unwrap_or(0))
    }
}

/// The server's rule for counting: four characters are a token, and what is not empty is at least one.
///
/// It is no tokenizer. It only makes counts that grow with the request, so that a client that sends half of the
/// history gets other numbers than one that sends all of it.
pub fn tokens_of(text: &str) -> u64 {
    u64::try_from(text.chars().count().div_ceil(4)).unwrap_or(u64::MAX)
}
