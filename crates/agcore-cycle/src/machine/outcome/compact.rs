//! [`Compact`] and [`Summary`]: a compaction of the conversation, as a journal keeps it.
//!
//! Code with a token estimator makes the plan. The machine executes it, decides whether a summary is usable, and keeps the
//! numbers that this needs.

use serde::{Deserialize, Serialize};

use super::reply::Reply;

/// A plan to compact the conversation. Indices refer to [`View::older`](crate::machine::View::older).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compact {
    /// The reason for the compaction.
    pub reason: CompactReason,
    /// The indices of tool results to replace by markers, in ascending order. With a cut, only if there is no usable summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<usize>,
    /// The model summarizes the messages before this index, which is the one of an assistant message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<usize>,
    /// The estimated tokens of the request before the compaction.
    pub tokens_before: u64,
    /// The estimated tokens of the request without the tool results.
    pub tokens_pruned: u64,
}

impl Compact {
    /// Creates a plan that changes nothing in a request of this size.
    pub fn new(reason: CompactReason, tokens: u64) -> Self {
        Self {
            reason,
            results: Vec::new(),
            cut: None,
            tokens_before: tokens,
            tokens_pruned: tokens,
        }
    }

    /// Sets the tool results to replace, and the tokens of the request without them.
    #[must_use]
    pub fn with_results(mut self, results: Vec<usize>, tokens: u64) -> Self {
        (self.results, self.tokens_pruned) = (results, tokens);
        self
    }

    /// Sets the end of the part that the model summarizes.
    #[must_use]
    pub fn with_cut(mut self, cut: Option<usize>) -> Self {
        self.cut = cut;
        self
    }

    /// Returns whether the plan changes nothing.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty() && self.cut.is_none()
    }
}

/// The reason for a compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactReason {
    /// The conversation has reached the threshold.
    Threshold,
    /// The model rejected the conversation as too long.
    Overflow,
    /// The caller requested it.
    Asked,
}

/// The summary that the model wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// The reply of the model.
    pub reply: Reply,
    /// The estimated tokens of the request with the summary in place.
    pub tokens: u64,
}

impl Summary {
    /// Creates a summary from a reply and the tokens of the request with it in place.
    pub fn new(reply: Reply, tokens: u64) -> Self {
        Self { reply, tokens }
    }
}
