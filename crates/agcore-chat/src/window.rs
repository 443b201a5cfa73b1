//! The context window: when it is full, where it may be cut, what can be taken out. Pure functions, used by the cycle and
//! by conversation memory.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    marks::{Marks, Origin},
    message::{Message, ToolMessage},
    tokens::TokenEstimator,
};

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
    /// The model's window in tokens; 128 000 where it is not known.
    pub context_window: u64,
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
            context_window: 128_000,
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
        self.context_window = tokens;
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

    /// The estimate from which on the conversation is compacted.
    pub fn threshold(&self) -> u64 {
        self.context_window
            .saturating_sub(self.reserved_tokens)
            .saturating_sub(self.buffer)
    }

    /// Whether an estimate reaches the threshold.
    pub fn is_reached(&self, estimate: u64) -> bool {
        estimate >= self.threshold()
    }
}

/// Where a history may be cut so that `keep_recent` messages or more stay behind the cut: the place of an assistant message,
/// so that no call is parted from its results. `None` when nothing between the first user message and the kept tail could
/// be taken out.
pub fn safe_cut(messages: &[Arc<Message>], keep_recent: usize) -> Option<usize> {
    let goal = messages
        .iter()
        .position(|message| matches!(**message, Message::User(_)))?;
    let latest = messages.len().checked_sub(keep_recent.max(1))?;
    (goal + 2..=latest)
        .rev()
        .find(|at| matches!(*messages[*at], Message::Assistant(_)))
}

/// What a micro-compaction came to.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pruned {
    /// The history; messages that were left alone are the same allocations as before.
    pub messages: Vec<Arc<Message>>,
    /// How many results were replaced.
    pub results: usize,
    /// How many tokens that freed, by the estimator.
    pub freed: u64,
}

/// What stands in place of a result that was taken out.
const MARKER: &str = "[An old tool result was taken out to save space. Call the tool again if it is needed.]";

/// Takes old tool results out: each becomes a short marker, except those among the newest `keep_recent` messages. Calls keep
/// their results, so the history stays valid. Results that were taken out before, and those that are no longer than the
/// marker, are left alone and not counted.
pub fn prune_tool_results(messages: &[Arc<Message>], keep_recent: usize, estimator: &dyn TokenEstimator) -> Pruned {
    let old = messages.len().saturating_sub(keep_recent);
    let mut pruned = Pruned {
        messages: messages.to_vec(),
        results: 0,
        freed: 0,
    };
    for message in &mut pruned.messages[..old] {
        let Message::Tool(result) = &**message else {
            continue;
        };
        if result.marks.origin == Some(Origin::Pruned) {
            continue;
        }
        let marker = Message::Tool(ToolMessage {
            content: MARKER.into(),
            marks: Marks {
                origin: Some(Origin::Pruned),
                ..result.marks.clone()
            },
            ..result.clone()
        });
        let freed = estimator.message(message).saturating_sub(estimator.message(&marker));
        if freed > 0 {
            pruned.freed = pruned.freed.saturating_add(freed);
            pruned.results += 1;
            *message = Arc::new(marker);
        }
    }
    pruned
}

/// Stops compactions that do not help: it opens when three in a row freed nothing or failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CompactionBreaker(u32);

impl CompactionBreaker {
    /// In a row, and no more are tried.
    const LIMIT: u32 = 3;

    /// Notes a compaction that freed so many tokens; one that failed freed none.
    pub fn record(&mut self, freed: u64) {
        self.0 = if freed > 0 { 0 } else { self.0.saturating_add(1) };
    }

    /// Whether no more compactions are tried.
    pub fn is_open(self) -> bool {
        self.0 >= Self::LIMIT
    }

    /// Closes it: the history was shortened otherwise, or a turn is over.
    pub fn close(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AssistantMessage, HeuristicEstimator, ToolCall, validate_messages};

    fn history(rounds: usize) -> Vec<Arc<Message>> {
        let mut messages = vec![Message::system("Be brief."), Message::user("The goal.")];
        for round in 0..rounds {
            let call = ToolCall::function(format!("c{round}"), "read", "{}");
            messages.push(AssistantMessage::default().with_call(call).into());
            messages.push(Message::tool(format!("c{round}"), "a long result ".repeat(50)));
        }
        messages.into_iter().map(Arc::new).collect()
    }

    #[test]
    fn cuts_only_before_an_assistant_message_behind_the_goal() {
        let check = |rounds, keep, expected| assert_eq!(safe_cut(&history(rounds), keep), expected, "{rounds} {keep}");
        check(4, 2, Some(8));
        check(4, 3, Some(6));
        check(4, 0, Some(8));
        // The goal's own answer is the first that can be kept; before it there is nothing to take out.
        check(1, 2, None);
        check(2, 4, None);
        check(0, 1, None);
        check(4, 100, None);
        assert_eq!(safe_cut(&[], 2), None);
    }

    #[test]
    fn pruning_frees_what_it_says_once() {
        let estimator = HeuristicEstimator::default();
        let before = history(4);
        let pruned = prune_tool_results(&before, 2, &estimator);
        assert_eq!(pruned.results, 3);
        let total = |messages: &[Arc<Message>]| estimator.messages(messages);
        assert_eq!(total(&before) - total(&pruned.messages), pruned.freed);
        validate_messages(&pruned.messages).unwrap();
        assert!(Arc::ptr_eq(&before[9], &pruned.messages[9]), "the newest stays whole");
        let again = prune_tool_results(&pruned.messages, 2, &estimator);
        assert_eq!((again.results, again.freed), (0, 0));
        assert_eq!(again.messages, pruned.messages);
    }

    #[test]
    fn short_results_are_left_alone() {
        let messages = vec![Arc::new(Message::tool("c", "ok"))];
        let pruned = prune_tool_results(&messages, 0, &HeuristicEstimator::default());
        assert_eq!((pruned.results, pruned.messages), (0, messages));
    }

    #[test]
    fn the_breaker_opens_at_three_and_closes() {
        let mut breaker = CompactionBreaker::default();
        for freed in [0, 0, 5, 0, 0] {
            breaker.record(freed);
            assert!(!breaker.is_open());
        }
        breaker.record(0);
        assert!(breaker.is_open());
        breaker.close();
        assert!(!breaker.is_open());
    }
}
