//! Micro-compaction: old tool results become short markers.

use std::sync::Arc;

use crate::{
    marks::{Marks, Origin},
    message::{Message, ToolMessage},
    tokens::TokenEstimator,
};

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
    let mut pruned = Pruned {
        messages: messages.to_vec(),
        results: 0,
        freed: 0,
    };
    for (at, freed) in prunable_results(messages, keep_recent, estimator) {
        pruned.freed = pruned.freed.saturating_add(freed);
        pruned.results += 1;
        if let Some(marker) = pruned_result(&messages[at]) {
            pruned.messages[at] = Arc::new(marker);
        }
    }
    pruned
}

/// The places of the results that [`prune_tool_results`] would take out, and how many tokens each would free: for who has
/// to decide before anything is changed.
pub fn prunable_results(
    messages: &[Arc<Message>],
    keep_recent: usize,
    estimator: &dyn TokenEstimator,
) -> Vec<(usize, u64)> {
    let old = messages.len().saturating_sub(keep_recent);
    let freed = |message: &Message| {
        let marker = pruned_result(message)?;
        let freed = estimator.message(message).saturating_sub(estimator.message(&marker));
        (freed > 0).then_some(freed)
    };
    messages[..old]
        .iter()
        .enumerate()
        .filter_map(|(at, message)| Some((at, freed(message)?)))
        .collect()
}

/// A tool message with the marker in place of its result; none for other messages, and for one that was taken out before.
pub fn pruned_result(message: &Message) -> Option<Message> {
    match message {
        Message::Tool(result) if result.marks.origin != Some(Origin::Pruned) => Some(Message::Tool(ToolMessage {
            content: MARKER.into(),
            marks: Marks {
                origin: Some(Origin::Pruned),
                ..result.marks.clone()
            },
            ..result.clone()
        })),
        _ => None,
    }
}
