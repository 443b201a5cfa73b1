//! [`CompactionReport`]: the effect of a requested compaction.

use agcore_chat::{CompactionMethod, ContextEvent, Fault};

/// The effect of a compaction that the caller requested.
///
/// ```
/// use agcore_chat::{ChatResponse, CompactionMethod, Message};
/// use agcore_cycle::{LlmCycle, TurnOptions};
/// use agcore_llm::{SystemClock, provider_fn};
/// # use std::sync::Arc;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let provider = provider_fn(|_| async { Ok(ChatResponse::from_text("They talked about the weather.")) });
/// let mut cycle = LlmCycle::new(provider, SystemClock::new());
/// let messages = (0..40).map(|at| match at % 2 {
///     0 => Message::user("How is the weather today? ".repeat(10)),
///     _ => Message::assistant("It is still raining. ".repeat(10)),
/// });
/// cycle.set_messages(messages.map(Arc::new).collect())?;
///
/// let report = cycle.compact(TurnOptions::new()).await?;
/// assert_eq!(report.method, Some(CompactionMethod::Summary));
/// assert!(report.freed() > 1_000);
/// assert!(cycle.messages()[0].text().contains("They talked about the weather."));
/// # Ok::<(), agcore_cycle::CycleError>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct CompactionReport {
    /// How the conversation was shortened, or `None` if it was not.
    pub method: Option<CompactionMethod>,
    /// The estimated tokens of a request before the compaction.
    pub tokens_before: u64,
    /// The estimated tokens of a request after the compaction.
    pub tokens_after: u64,
    /// The reason why an attempted summary is missing.
    pub fault: Option<Fault>,
}

impl CompactionReport {
    /// Creates the report of a compaction that has not changed anything.
    pub(crate) fn new(tokens: u64) -> Self {
        Self {
            tokens_before: tokens,
            tokens_after: tokens,
            ..Self::default()
        }
    }

    /// Records an event of the compaction.
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

    /// Returns whether nothing changed.
    pub fn is_unchanged(&self) -> bool {
        self.method.is_none()
    }

    /// Returns the estimated number of tokens that were freed.
    pub fn freed(&self) -> u64 {
        self.tokens_before.saturating_sub(self.tokens_after)
    }
}
