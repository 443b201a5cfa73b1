//! [`Compact`] and [`Summary`]: how the conversation is made shorter, as a journal keeps it.
//!
//! Who has an estimator plans; the machine does what the plan says, decides whether a summary is of use, and keeps the
//! numbers that this needs.

use serde::{Deserialize, Serialize};

use super::reply::Reply;

/// A plan to make the conversation shorter. Places are those of [`View::older`](super::View::older).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compact {
    /// Why.
    pub reason: CompactReason,
    /// Tool results that become a marker, in order; with a cut, only when no summary comes of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<usize>,
    /// The model sums up what stands before this place, that of an assistant message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<usize>,
    /// Tokens of the request as it is, estimated.
    pub tokens_before: u64,
    /// Tokens of the request with the results taken out, estimated.
    pub tokens_pruned: u64,
}

impl Compact {
    /// A plan that changes nothing of a request with so many tokens.
    pub fn new(reason: CompactReason, tokens: u64) -> Self {
        Self {
            reason,
            results: Vec::new(),
            cut: None,
            tokens_before: tokens,
            tokens_pruned: tokens,
        }
    }

    /// Adds tool results to take out, and the tokens of the request without them.
    pub fn with_results(mut self, results: Vec<usize>, tokens: u64) -> Self {
        (self.results, self.tokens_pruned) = (results, tokens);
        self
    }

    /// Adds where the part ends that the model sums up.
    pub fn with_cut(mut self, cut: Option<usize>) -> Self {
        self.cut = cut;
        self
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty() && self.cut.is_none()
    }
}

/// Why the conversation is made shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CompactReason {
    /// It has reached the threshold.
    Threshold,
    /// The model said that it is too long.
    Overflow,
    /// Somebody asked.
    Asked,
}

/// What the model made of the part that it was asked to sum up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Summary {
    /// What it said.
    pub reply: Reply,
    /// Tokens of the request with the summary in place, estimated.
    pub tokens: u64,
}

impl Summary {
    /// A reply, and the tokens of the request with it in place.
    pub fn new(reply: Reply, tokens: u64) -> Self {
        Self { reply, tokens }
    }
}
