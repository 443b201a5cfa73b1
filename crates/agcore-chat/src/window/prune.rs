//! Micro-compaction: replacing old tool results with short placeholders.

use std::sync::Arc;

use crate::{
    content::marks::{Marks, Origin},
    conversation::message::{Message, ToolMessage},
    tokens::TokenEstimator,
};

/// The result of a micro-compaction.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Pruned {
    /// The history; messages that did not change are shared with the original.
    pub messages: Vec<Arc<Message>>,
    /// The number of tool results that were replaced.
    pub results: usize,
    /// The number of tokens that were freed, as estimated.
    pub freed: u64,
}

/// The text that replaces a result.
const PLACEHOLDER: &str = "[An old tool result was taken out to save space. Call the tool again if it is needed.]";

/// Replaces old tool results with short placeholders, except those among the newest `keep_recent` messages.
///
/// Each call keeps a result, so the history remains valid. Results that were already replaced, and those that are not
/// longer than the placeholder, are not changed and not counted.
///
/// ```
/// use std::sync::Arc;
///
/// use agcore_chat::{AssistantMessage, HeuristicEstimator, Message, ToolCall, prune_tool_results};
///
/// let call = AssistantMessage::default().with_call(ToolCall::function("call_1", "read", "{}"));
/// let result = Message::tool("call_1", "word ".repeat(500));
/// let history = [Message::user("Read it."), call.into(), result, Message::user("Thanks.")];
/// let history: Vec<Arc<Message>> = history.map(Arc::new).into();
///
/// let pruned = prune_tool_results(&history, 1, &HeuristicEstimator::default());
/// assert_eq!(pruned.results, 1);
/// assert!(pruned.freed > 400);
/// assert!(Arc::ptr_eq(&pruned.messages[0], &history[0]));
/// ```
pub fn prune_tool_results(messages: &[Arc<Message>], keep_recent: usize, estimator: &dyn TokenEstimator) -> Pruned {
    let mut pruned = Pruned {
        messages: messages.to_vec(),
        results: 0,
        freed: 0,
    };
    for (at, freed) in prunable_results(messages, keep_recent, estimator) {
        pruned.freed = pruned.freed.saturating_add(freed);
        pruned.results += 1;
        if let Some(placeholder) = pruned_result(&messages[at]) {
            pruned.messages[at] = Arc::new(placeholder);
        }
    }
    pruned
}

/// Returns the indices of the results that [`prune_tool_results`] would replace, each with the number of tokens that
/// this would free, without changing anything.
pub fn prunable_results(
    messages: &[Arc<Message>],
    keep_recent: usize,
    estimator: &dyn TokenEstimator,
) -> Vec<(usize, u64)> {
    let old = messages.len().saturating_sub(keep_recent);
    let freed = |message: &Message| {
        let placeholder = pruned_result(message)?;
        let freed = estimator
            .message(message)
            .saturating_sub(estimator.message(&placeholder));
        (freed > 0).then_some(freed)
    };
    messages[..old]
        .iter()
        .enumerate()
        .filter_map(|(at, message)| Some((at, freed(message)?)))
        .collect()
}

/// Returns the tool message with a placeholder instead of its result, or `None` if the message is not a tool result or
/// was already replaced.
pub fn pruned_result(message: &Message) -> Option<Message> {
    match message {
        Message::Tool(result) if result.marks.origin != Some(Origin::Pruned) => Some(Message::Tool(ToolMessage {
            content: PLACEHOLDER.into(),
            marks: Marks {
                origin: Some(Origin::Pruned),
                ..result.marks.clone()
            },
            ..result.clone()
        })),
        _ => None,
    }
}
