//! [`Plan`]: what is taken out of a conversation, and up to where a model sums it up.

use std::sync::Arc;

use agcore_chat::{Message, TokenEstimator, WindowSettings, prunable_results, safe_cut};

/// Why the conversation is made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pressure {
    /// It has reached the threshold.
    Threshold,
    /// The model said that it is too long: the estimate is not to be trusted.
    Overflow,
    /// Somebody asked: as short as it gets.
    Asked,
}

/// The conversation, and how much it shall be shortened.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    /// What may be changed.
    pub(crate) older: &'a [Arc<Message>],
    /// How many messages stand behind it that stay as they are.
    pub(crate) added: usize,
    /// Tokens of the whole request.
    pub(crate) tokens: u64,
    pub(crate) window: &'a WindowSettings,
    pub(crate) pressure: Pressure,
    /// Whether a model may sum up.
    pub(crate) summaries: bool,
    pub(crate) estimator: &'a dyn TokenEstimator,
}

/// What is taken out, and up to where a model sums up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    /// Places of results.
    pub(crate) results: Vec<usize>,
    /// Tokens of the request without them.
    pub(crate) tokens_pruned: u64,
    /// What stands before this is summed up.
    pub(crate) cut: Option<usize>,
}

/// A part that has fewer tokens than this no summary can make shorter.
const WORTH_A_SUMMARY: u64 = 100;

impl Task<'_> {
    /// The plan; an empty one when there is nothing to do.
    pub(crate) fn plan(&self) -> Plan {
        let plan = self.plan_keeping(self.window.keep_recent);
        if plan.is_empty() && self.pressure == Pressure::Overflow {
            // Better to lose new results than the conversation: the model can call again.
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

    /// Whether the conversation is short enough: so far below the threshold that the next rounds do not reach it again at
    /// once, as each compaction costs the vendor's prompt cache.
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
    /// Leaves a request of so many tokens as it is.
    pub(crate) fn nothing(tokens: u64) -> Self {
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

    /// A goal, and rounds of one call whose results have so many words.
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
    fn taking_results_out_is_enough_where_it_goes_well_below_the_threshold() {
        let older = rounds(10, 100);
        let found = plan(&older, &window(1_000, 2), Pressure::Threshold);
        assert_eq!((found.results.len(), found.cut), (9, None));
        let found = plan(&older, &window(300, 2), Pressure::Threshold);
        assert_eq!((found.results.len(), found.cut), (9, Some(19)));
    }

    #[test]
    fn who_asks_gets_a_summary() {
        let older = rounds(10, 100);
        assert_eq!(plan(&older, &window(1_000_000, 2), Pressure::Asked).cut, Some(19));
        let found = plan(&older[..3], &window(1_000_000, 2), Pressure::Asked);
        assert!(found.is_empty(), "{found:?}");
    }

    #[test]
    fn an_overflow_takes_new_results_when_nothing_else_helps() {
        let older = rounds(1, 1_000);
        assert!(plan(&older, &window(10, 6), Pressure::Threshold).is_empty());
        assert_eq!(plan(&older, &window(10, 6), Pressure::Overflow).results, [2]);
    }

    #[test]
    fn a_few_words_are_not_worth_a_summary() {
        let texts = ["The goal.", "One.", "Two.", "Three."];
        let messages = texts.iter().enumerate().map(|(at, text)| match at % 2 {
            0 => Message::user(*text),
            _ => Message::assistant(*text),
        });
        let older: Vec<_> = messages.map(Arc::new).collect();
        assert!(plan(&older, &window(1, 1), Pressure::Asked).is_empty());
    }
}
