//! [`WindowSettings`]: the limits that determine when a conversation is compacted.

use serde::{Deserialize, Serialize};

/// The context window of a model whose window is unknown, in tokens.
const DEFAULT_CONTEXT_WINDOW: u64 = 128_000;

/// Settings that determine when a conversation is too long for its model and must be compacted.
///
/// ```
/// use agcore_chat::WindowSettings;
///
/// let settings = WindowSettings::new();
/// assert_eq!(settings.threshold(), 128_000 - 20_000 - 13_000);
/// assert!(settings.is_reached(95_000) && !settings.is_reached(94_999));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WindowSettings {
    /// The context window of the model, in tokens. `None` stands for the window that the provider reports, or 128 000
    /// if it reports none.
    pub context_window: Option<u64>,
    /// The number of tokens reserved for the reply. Default: 20 000.
    pub reserved_tokens: u64,
    /// The number of tokens reserved for errors of the estimate. Default: 13 000.
    pub buffer: u64,
    /// The number of newest messages that a compaction does not change. Default: 6.
    pub keep_recent: usize,
}

impl Default for WindowSettings {
    fn default() -> Self {
        Self {
            context_window: None,
            reserved_tokens: 20_000,
            buffer: 13_000,
            keep_recent: 6,
        }
    }
}

impl WindowSettings {
    /// Creates the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the context window of the model, in tokens.
    #[must_use]
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets the number of tokens reserved for the reply.
    #[must_use]
    pub fn with_reserved_tokens(mut self, tokens: u64) -> Self {
        self.reserved_tokens = tokens;
        self
    }

    /// Sets the number of tokens reserved for errors of the estimate.
    #[must_use]
    pub fn with_buffer(mut self, tokens: u64) -> Self {
        self.buffer = tokens;
        self
    }

    /// Sets the number of newest messages that a compaction does not change.
    #[must_use]
    pub fn with_keep_recent(mut self, messages: usize) -> Self {
        self.keep_recent = messages;
        self
    }

    /// Returns the context window in tokens: as set, or 128 000.
    pub fn context_window(&self) -> u64 {
        self.context_window.unwrap_or(DEFAULT_CONTEXT_WINDOW)
    }

    /// Adapts the settings to a model, given the context window that its provider reports, if any. A window that was
    /// set explicitly takes precedence.
    ///
    /// If the reserved tokens exceed half of the window, they are reduced to that half, in proportion. Otherwise every
    /// conversation with a small model would be too long from the start.
    #[must_use]
    pub fn for_model(mut self, context_window: Option<u64>) -> Self {
        let window = self.context_window.or(context_window).unwrap_or(DEFAULT_CONTEXT_WINDOW);
        self.context_window = Some(window);
        let (reserved, half) = (self.reserved_tokens.saturating_add(self.buffer), window / 2);
        if reserved > half {
            let share =
                |part: u64| u64::try_from(u128::from(part) * u128::from(half) / u128::from(reserved)).unwrap_or(half);
            (self.reserved_tokens, self.buffer) = (share(self.reserved_tokens), share(self.buffer));
        }
        self
    }

    /// Returns the estimated number of tokens at which the conversation is compacted.
    pub fn threshold(&self) -> u64 {
        self.context_window()
            .saturating_sub(self.reserved_tokens)
            .saturating_sub(self.buffer)
    }

    /// Returns whether an estimate reaches the threshold.
    pub fn is_reached(&self, estimate: u64) -> bool {
        estimate >= self.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_the_window_that_was_set_over_the_reported_one() {
        let check = |set: Option<u64>, model, expected| {
            let mut settings = WindowSettings::new();
            settings.context_window = set;
            assert_eq!(
                settings.for_model(model).context_window(),
                expected,
                "{set:?} {model:?}"
            );
        };
        check(None, None, 128_000);
        check(None, Some(1_000_000), 1_000_000);
        check(Some(90_000), Some(1_000_000), 90_000);
    }

    #[test]
    fn reserves_at_most_half_of_a_small_window() {
        let check = |window, threshold| {
            assert_eq!(
                WindowSettings::new().for_model(Some(window)).threshold(),
                threshold,
                "{window}"
            );
        };
        check(128_000, 95_000);
        check(66_000, 33_000);
        check(8_192, 4_097);
        check(0, 0);
        let own = WindowSettings::new().with_reserved_tokens(100).with_buffer(50);
        assert_eq!(own.with_context_window(1_000).for_model(None).threshold(), 850);
    }
}
