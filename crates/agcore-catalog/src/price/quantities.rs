//! [`Quantities`]: the parts of a call that are priced. No part exceeds its whole.

use super::call_usage::CallUsage;

/// The parts of a call that are priced, clamped to their wholes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Quantities {
    pub(crate) prompt: u64,
    pub(crate) cached: u64,
    pub(crate) cache_write: u64,
    /// A part of `cache_write`.
    pub(crate) cache_write_long: u64,
    pub(crate) audio_input: u64,
    pub(crate) completion: u64,
    pub(crate) reasoning: u64,
    pub(crate) audio_output: u64,
    pub(crate) images: u64,
    pub(crate) milliseconds: u64,
    pub(crate) characters: u64,
    pub(crate) searches: u64,
    pub(crate) documents: u64,
}

impl Quantities {
    /// Clamps the parts of a usage. A side that is not known counts as 0.
    pub(crate) fn of(usage: &CallUsage) -> Self {
        let (prompt, completion) = usage.sides();
        let (prompt, completion) = (prompt.unwrap_or(0), completion.unwrap_or(0));
        let cached = usage.cached().unwrap_or(0).min(prompt);
        let cache_write = usage.cache_write_tokens.unwrap_or(0).min(prompt - cached);
        let reasoning = usage.reasoning_tokens.unwrap_or(0).min(completion);
        Self {
            prompt,
            cached,
            cache_write,
            cache_write_long: usage.cache_write_long_tokens.unwrap_or(0).min(cache_write),
            audio_input: usage.audio_input_tokens.unwrap_or(0).min(prompt - cached - cache_write),
            completion,
            reasoning,
            audio_output: usage.audio_output_tokens.unwrap_or(0).min(completion - reasoning),
            images: usage.images.unwrap_or(0),
            milliseconds: usage.milliseconds.unwrap_or(0),
            characters: usage.characters.unwrap_or(0),
            searches: usage.searches.unwrap_or(0),
            documents: usage.documents.unwrap_or(0),
        }
    }

    /// Returns the prompt tokens without a rate of their own.
    pub(crate) fn plain_input(&self) -> u64 {
        self.prompt - self.cached - self.cache_write - self.audio_input
    }

    /// Returns the generated tokens without a rate of their own.
    pub(crate) fn plain_output(&self) -> u64 {
        self.completion - self.reasoning - self.audio_output
    }
}
