//! [`WindowSettings`]: when a conversation is too long for its model.

use serde::{Deserialize, Serialize};

/// A model's window where nobody knows it, in tokens.
const CONTEXT_WINDOW: u64 = 128_000;

/// When a conversation is too long for its model.
///
/// ```
/// let settings = agcore_chat::WindowSettings::new();
/// assert_eq!(settings.threshold(), 128_000 - 20_000 - 13_000);
/// assert!(settings.is_reached(95_000) && !settings.is_reached(94_999));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WindowSettings {
    /// The model's window in tokens. None is not known: what the model's provider says of it, else 128 000.
    pub context_window: Option<u64>,
    /// Kept free for the reply, in tokens; 20 000.
    pub reserved_tokens: u64,
    /// Kept free against errors of the estimate, in tokens; 13 000.
    pub buffer: u64,
    /// How many of the newest messages a compaction leaves alone; 6.
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
    /// The default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the model's window, in tokens.
    pub fn with_context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets what is kept free for the reply, in tokens.
    pub fn with_reserved_tokens(mut self, tokens: u64) -> Self {
        self.reserved_tokens = tokens;
        self
    }

    /// Sets what is kept free against errors of the estimate, in tokens.
    pub fn with_buffer(mut self, tokens: u64) -> Self {
        self.buffer = tokens;
        self
    }

    /// Sets how many of the newest messages a compaction leaves alone.
    pub fn with_keep_recent(mut self, messages: usize) -> Self {
        self.keep_recent = messages;
        self
    }

    /// The window in tokens, as far as these settings know it.
    pub fn context_window(&self) -> u64 {
        self.context_window.unwrap_or(CONTEXT_WINDOW)
    }

    /// The settings for a model whose window is known to its provider, or not. A window that was set stands over it. What is
    /// kept free is shrunk to half of a window too small for it, each part by the same share: otherwise a small model's
    /// conversation would be too long from its first word.
    pub fn for_model(mut self, context_window: Option<u64>) -> Self {
        let window = self.context_window.or(context_window).unwrap_or(CONTEXT_WINDOW);
        self.context_window = Some(window);
        let (free, half) = (self.reserved_tokens.saturating_add(self.buffer), window / 2);
        if free > half {
            let share =
                |part: u64| u64::try_from(u128::from(part) * u128::from(half) / u128::from(free)).unwrap_or(half);
            (self.reserved_tokens, self.buffer) = (share(self.reserved_tokens), share(self.buffer));
        }
        self
    }

    /// The estimate from which on the conversation is compacted.
    pub fn threshold(&self) -> u64 {
        self.context_window()
            .saturating_sub(self.reserved_tokens)
            .saturating_sub(self.buffer)
    }

    /// Whether an estimate reaches the threshold.
    pub fn is_reached(&self, estimate: u64) -> bool {
        estimate >= self.threshold()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_the_one_set_else_the_models_else_a_default() {
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
    fn a_small_window_keeps_at_most_half_of_it_free() {
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
