//! [`Plan`]: which tool results are removed from a conversation, and which part a model summarizes.

use std::sync::Arc;

use agcore_chat::{Message, TokenEstimator, WindowSettings, prunable_results, safe_cut};

/// The reason for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressure {
    /// The conversation has reached the threshold.
    Threshold,
    /// The model rejected the conversation as too long, so the estimate cannot be trusted.
    Overflow,
    /// The caller requested it: compact as much as possible.
    Asked,
}

/// The conversation to compact, and how much.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    /// The messages that may be changed.
    pub(crate) older: &'a [Arc<Message>],
    /// The number of messages after them, which stay as they are.
    pub(crate) added: usize,
    /// The tokens of the whole request.
    pub(crate) tokens: u64,
    pub(crate) window: &'a WindowSettings,
    pub(crate) pressure: Pressure,
    /// Whether a model may write a summary.
    pub(crate) summaries: bool,
    pub(crate) estimator: &'a dyn TokenEstimator,
}

/// A plan for a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// The indices of the tool results to replace by markers.
    pub(crate) results: Vec<usize>,
    /// The tokens of the request without these results.
    pub(crate) tokens_pruned: u64,
    /// The model summarizes the messages before this index.
    pub(crate) cut: Option<usize>,
}

/// The least number of tokens that a summary can be expected to shorten.
const WORTH_A_SUMMARY: u64 = 100;

impl Task<'_> {
    /// Returns the plan, which is empty if nothing can be done.
    pub(crate) fn plan(&self) -> Plan {
        let plan = self.plan_keeping(self.window.keep_recent);
        if plan.is_empty() && self.pressure == Pressure::Overflow {
            // Losing new results is better than losing the conversation, because the model can call the tools again.
            return self.plan_keeping(0);
        }
        plan
    }

    fn plan_keeping(&self, recent: usize) -> Plan {
        let recent = recent.saturating_sub(self.added);
        let prunable = prunable_results(self.older, recent, self.estimator);
        let freed = prunable.iter().map(|(_, freed)| *freed).fold(0, u64::saturating_add);
        let tokens_pruned = self.tokens.saturating_sub(freed);
        Plan {
            results: prunable.into_iter().map(|(at, _)| at).collect(),
            tokens_pruned,
            cut: if self.is_enough(tokens_pruned) {
                None
            } else {
                self.cut(recent)
            },
        }
    }

    /// Returns whether the conversation is short enough: far enough below the threshold that the next rounds do not reach it
    /// again, because each compaction invalidates the vendor's prompt cache.
    fn is_enough(&self, tokens: u64) -> bool {
        match self.pressure {
            Pressure::Threshold => tokens < self.window.threshold() / 5 * 4,
            Pressure::Overflow => tokens <= self.tokens / 2,
            Pressure::Asked => false,
        }
    }

    fn cut(&self, recent: usize) -> Option<usize> {
        let cut = safe_cut(self.older, recent).filter(|_| self.summaries)?;
        let goal = self
            .older
            .iter()
            .position(|message| matches!(**message, Message::User(_)))?;
        let replaced = self.older[goal + 1..cut]
            .iter()
            .filter(|message| !message.is_instruction())
            .map(|message| self.estimator.message(message))
            .fold(0, u64::saturating_add);
        (replaced >= WORTH_A_SUMMARY).then_some(cut)
    }
}

impl Plan {
    /// Creates a plan that changes nothing in a request of this size.
    pub(crate) fn empty(tokens: u64) -> Self {
        Self {
            results: Vec::new(),
            tokens_pruned: tokens,
            cut: None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.results.is_empty() && self.cut.is_none()
    }
}

#[cfg(test)]
mod tests {
    use agcore_chat::{AssistantMessage, HeuristicEstimator, ToolCall};

    use super::*;

    /// Returns a goal, followed by rounds of one call whose results have this many words.
    fn rounds(rounds: usize, words: usize) -> Vec<Arc<Message>> {
        let mut messages = vec![Message::user("The goal.")];
        for round in 0..rounds {
            let call = ToolCall::function(format!("c{round}"), "read", "{}");
            messages.push(AssistantMessage::default().with_call(call).into());
            messages.push(Message::tool(format!("c{round}"), "word ".repeat(words)));
        }
        messages.into_iter().map(Arc::new).collect()
    }

    fn plan(older: &[Arc<Message>], window: &WindowSettings, pressure: Pressure) -> Plan {
        let estimator = HeuristicEstimator::default();
        Task {
            older,
            added: 0,
            tokens: estimator.messages(older),
            window,
            pressure,
            summaries: true,
            estimator: &estimator,
        }
        .plan()
    }

    fn window(tokens: u64, keep: usize) -> WindowSettings {
        WindowSettings::new()
            .with_context_window(tokens)
            .with_reserved_tokens(0)
            .with_buffer(0)
            .with_keep_recent(keep)
    }

    #[test]
    fn removing_results_suffices_if_it_goes_well_below_the_threshold() {
        let older = rounds(10, 100);
        let found = plan(&older, &window(1_000, 2), Pressure::Threshold);
        assert_eq!((found.results.len(), found.cut), (9, None));
        let found = plan(&older, &window(300, 2), Pressure::Threshold);
        assert_eq!((found.results.len(), found.cut), (9, Some(19)));
    }

    #[test]
    fn a_requested_compaction_includes_a_summary() {
        let older = rounds(10, 100);
        assert_eq!(plan(&older, &window(1_000_000, 2), Pressure::Asked).cut, Some(19));
        let found = plan(&older[..3], &window(1_000_000, 2), Pressure::Asked);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn an_overflow_removes_new_results_if_nothing_else_helps() {
        let older = rounds(1, 1_000);
        assert!(plan(&older, &window(10, 6), Pressure::Threshold).is_empty());
        assert_eq!(plan(&older, &window(10, 6), Pressure::Overflow).results, [2]);
    }

    #[test]
    fn a_short_part_is_not_summarized() {
        let texts = ["The goal.", "One.", "Two.", "Three."];
        let messages = texts.iter().enumerate().map(|(at, text)| match at % 2 {
            0 => Message::user(*text),
            _ => Message::assistant(*text),
        });
        let older: Vec<_> = messages.map(Arc::new).collect();
        assert!(plan(&older, &window(1, 1), Pressure::Asked).is_empty());
    }
}
