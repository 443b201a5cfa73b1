//! [`CompactionReport`]: what a compaction by hand came to.

use agcore_chat::{CompactionMethod, ContextEvent, Fault};

/// What a compaction by hand came to.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompactionReport {
    /// How the conversation was made shorter; none when it was not.
    pub method: Option<CompactionMethod>,
    /// Estimated tokens of a request before.
    pub tokens_before: u64,
    /// Estimated tokens of a request after.
    pub tokens_after: u64,
    /// Why there is no summary, where one was tried.
    pub fault: Option<Fault>,
}

impl CompactionReport {
    /// What was there before, and nothing to do.
    pub(crate) fn unchanged(tokens: u64) -> Self {
        Self {
            tokens_before: tokens,
            tokens_after: tokens,
            ..Self::default()
        }
    }

    /// Adds what was told.
    pub(crate) fn record(&mut self, event: &ContextEvent) {
        match event {
            ContextEvent::Compacted {
                method,
                tokens_before,
                tokens_after,
            } => {
                self.method = Some(*method);
                (self.tokens_before, self.tokens_after) = (*tokens_before, *tokens_after);
            }
            ContextEvent::CompactionFailed { fault } => self.fault = Some(fault.clone()),
            _ => {}
        }
    }

    /// Whether nothing changed.
    pub fn is_nothing(&self) -> bool {
        self.method.is_none()
    }

    /// Estimated tokens that were freed.
    pub fn freed(&self) -> u64 {
        self.tokens_before.saturating_sub(self.tokens_after)
    }
}
