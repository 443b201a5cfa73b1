//! [`Reply`] of a model, and [`Failure`] of a call.

use std::sync::Arc;

use agcore_chat::{AssistantMessage, Fault, FinishReason, Usage};
use serde::{Deserialize, Serialize};

use super::lost::Lost;

/// A reply of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reply {
    /// The message.
    pub message: Arc<AssistantMessage>,
    /// The reason the model stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<FinishReason>,
    /// The tokens used, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Failed attempts before this reply.
    #[serde(default)]
    pub lost: Lost,
}

impl Reply {
    /// Creates a reply without further information.
    pub fn new(message: impl Into<Arc<AssistantMessage>>) -> Self {
        Self {
            message: message.into(),
            finish: None,
            usage: None,
            lost: Lost::default(),
        }
    }

    /// Sets the reason the model stopped.
    #[must_use]
    pub fn with_finish(mut self, finish: Option<FinishReason>) -> Self {
        self.finish = finish;
        self
    }

    /// Sets the tokens used.
    #[must_use]
    pub fn with_usage(mut self, usage: Option<Usage>) -> Self {
        self.usage = usage;
        self
    }

    /// Sets the failed attempts.
    #[must_use]
    pub fn with_lost(mut self, lost: impl Into<Lost>) -> Self {
        self.lost = lost.into();
        self
    }
}

/// A failed call of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Failure {
    /// The reason.
    pub fault: Fault,
    /// Attempts that returned a part of an answer.
    #[serde(default)]
    pub lost: Lost,
}

impl Failure {
    /// Creates a failure that cost nothing.
    pub fn new(fault: Fault) -> Self {
        Self {
            fault,
            lost: Lost::default(),
        }
    }

    /// Sets the attempts that returned a part of an answer.
    #[must_use]
    pub fn with_lost(mut self, lost: impl Into<Lost>) -> Self {
        self.lost = lost.into();
        self
    }
}
