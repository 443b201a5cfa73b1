//! [`Reply`] of a model, and the [`Failure`] of a call without one.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Fault, FinishReason, Usage, UsageTracker};
use serde::{Deserialize, Serialize};

/// A reply of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// What it said.
    pub message: Arc<AssistantMessage>,
    /// Why it stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// Tokens used, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Attempts that came to nothing before.
    #[serde(default)]
    pub lost: UsageTracker,
}

impl Reply {
    /// A reply of which nothing more is known.
    pub fn new(message: impl Into<Arc<AssistantMessage>>) -> Self {
        Self {
            message: message.into(),
            finish: None,
            usage: None,
            lost: UsageTracker::default(),
        }
    }

    /// Adds why the model stopped.
    pub fn with_finish(mut self, finish: Option<FinishReason>) -> Self {
        self.finish = finish;
        self
    }

    /// Adds the tokens used.
    pub fn with_usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// Adds attempts that came to nothing.
    pub fn with_lost(mut self, lost: UsageTracker) -> Self {
        self.lost = lost;
        self
    }
}

/// A call of the model that came to nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// Why.
    pub fault: Fault,
    /// Attempts that returned a part of an answer.
    #[serde(default)]
    pub lost: UsageTracker,
}

impl Failure {
    /// A failure that cost nothing.
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            lost: UsageTracker::default(),
        }
    }

    /// Adds attempts that returned a part of an answer.
    pub fn with_lost(mut self, lost: UsageTracker) -> Self {
        self.lost = lost;
        self
    }
}
