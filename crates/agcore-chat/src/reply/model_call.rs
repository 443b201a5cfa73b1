//! [`ModelCall`]: a call of a model, as its cost is computed from it.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{cost::usage::Usage, reply::response::AnsweredBy, small_text::Text};

/// A call of a model that has ended: with an answer, or after a part of one.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use agcore_chat::{AnsweredBy, ModelCall, Usage};
///
/// let sent_at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
/// let call = ModelCall::new(AnsweredBy::new("deepseek", "deepseek-chat"), sent_at).with_usage(Usage::new(1_200, 300));
/// assert_eq!(call.sent_at(), sent_at);
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ModelCall {
    /// The provider, model and key that the call was made with; after a fallback those that answered.
    pub route: AnsweredBy,
    /// The model as the reply names it, if it names another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_model: Option<Text>,
    /// The service tier of the reply, or else of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<Text>,
    /// The time at which the request was sent, in milliseconds since the start of 1970.
    pub sent_at_ms: u64,
    /// How long the call took, in milliseconds.
    pub latency_ms: u64,
    /// The usage that the server reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether the call was made for the conversation itself, and not for a summary of it or another purpose besides.
    pub is_reply: bool,
}

impl ModelCall {
    /// Creates a call for the conversation whose usage is unknown.
    pub fn new(route: AnsweredBy, sent_at: SystemTime) -> Self {
        let since = sent_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        Self {
            route,
            reported_model: None,
            service_tier: None,
            sent_at_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            latency_ms: 0,
            usage: None,
            is_reply: true,
        }
    }

    /// Sets the usage that the server reported.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Returns the time at which the request was sent.
    pub fn sent_at(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
            .checked_add(Duration::from_millis(self.sent_at_ms))
            .unwrap_or(SystemTime::UNIX_EPOCH)
    }
}
