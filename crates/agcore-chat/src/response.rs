//! [`ChatResponse`]: a complete reply of a model.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    assistant::AssistantMessage,
    finish::FinishReason,
    object::{Extra, object},
    small_text::Text,
    tool_call::ToolCall,
    usage::Usage,
};

/// A complete reply of a model. Every member is optional when reading.
///
/// ```
/// use agcore_chat::{ChatResponse, FinishReason};
///
/// let reply = r#"{"choices": [{"message": {"content": "Paris."}, "finish_reason": "stop"}], "region": "eu"}"#;
/// let response: ChatResponse = serde_json::from_str(reply)?;
/// assert_eq!(response.text(), "Paris.");
/// assert_eq!(response.finish_reason(), Some(&FinishReason::Stop));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatResponse {
    /// The reply's id, assigned by the server.
    pub id: Option<String>,
    /// The time of creation, in seconds since 1970.
    pub created: Option<u64>,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
    /// The answers: one, unless the request asked for more.
    pub choices: Vec<Choice>,
    /// The tokens used.
    pub usage: Option<Usage>,
    /// The server's fingerprint of its configuration.
    pub system_fingerprint: Option<String>,
    /// The service class that was used.
    pub service_tier: Option<String>,
    /// The provider that answered, if a router selected one.
    pub answered_by: Option<AnsweredBy>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(ChatResponse: "a chat response" {
    "id" => id, "created" => created, "model" => model, "choices" => choices [always], "usage" => usage,
    "system_fingerprint" => system_fingerprint, "service_tier" => service_tier, "agcore" => answered_by,
});

/// An answer of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// The position among the answers, from 0.
    pub index: u32,
    /// The message of the model.
    pub message: AssistantMessage,
    /// The reason the model stopped.
    pub finish_reason: Option<FinishReason>,
    /// Log probabilities, as defined by the API.
    pub logprobs: Option<Value>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(Choice: "a choice" {
    "index" => index, "message" => message [always], "finish_reason" => finish_reason, "logprobs" => logprobs,
});

/// The provider and model that answered a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnsweredBy {
    /// The name of the provider.
    pub provider: Text,
    /// The model that the request was sent to.
    pub model: Text,
    /// The label of the API key that was used; never the key itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text>,
}

impl AnsweredBy {
    /// Creates a record of a provider and its model.
    pub fn new(provider: impl Into<Text>, model: impl Into<Text>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            key: None,
        }
    }

    /// Sets the label of the API key.
    #[must_use]
    pub fn with_key(mut self, label: impl Into<Text>) -> Self {
        self.key = Some(label.into());
        self
    }
}

/// Creates a reply with one complete answer.
impl From<AssistantMessage> for ChatResponse {
    fn from(message: AssistantMessage) -> Self {
        let finish = if message.has_tool_calls() {
            FinishReason::ToolCalls
        } else {
            FinishReason::Stop
        };
        let choice = Choice {
            message,
            finish_reason: Some(finish),
            ..Choice::default()
        };
        Self {
            choices: vec![choice],
            ..Self::default()
        }
    }
}

impl ChatResponse {
    /// Creates a reply with one answer of plain text.
    pub fn from_text(text: impl Into<String>) -> Self {
        AssistantMessage::new(text).into()
    }

    /// Returns the message of the first answer.
    pub fn message(&self) -> Option<&AssistantMessage> {
        Some(&self.choices.first()?.message)
    }

    /// Returns the text of the first answer; empty if there is none.
    pub fn text(&self) -> Cow<'_, str> {
        self.message().map(AssistantMessage::text).unwrap_or_default()
    }

    /// Returns the tool calls of the first answer.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message().into_iter().flat_map(AssistantMessage::tool_calls)
    }

    /// Returns the reason the first answer ended.
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.choices.first()?.finish_reason.as_ref()
    }
}
