//! [`ChatResponse`]: a whole reply, everything the wire had kept.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    assistant::AssistantMessage,
    finish::FinishReason,
    object::{Extra, object},
    text::Text,
    tool_call::ToolCall,
    usage::Usage,
};

/// A whole reply. Every member is optional when read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatResponse {
    /// The server's id of the reply.
    pub id: Option<String>,
    /// When it was made, seconds since 1970.
    pub created: Option<u64>,
    /// The model that answered, as the server names it.
    pub model: Option<String>,
    /// The answers; one unless the request asked for more.
    pub choices: Vec<Choice>,
    /// Tokens used.
    pub usage: Option<Usage>,
    /// The server's fingerprint of its own configuration.
    pub system_fingerprint: Option<String>,
    /// The service class that was used.
    pub service_tier: Option<String>,
    /// Which of several providers answered, where a router chose.
    pub answered_by: Option<AnsweredBy>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(ChatResponse: "a chat response" {
    "id" => id, "created" => created, "model" => model, "choices" => choices [always], "usage" => usage,
    "system_fingerprint" => system_fingerprint, "service_tier" => service_tier, "agcore" => answered_by,
});

/// One answer of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Choice {
    /// Its place among the answers.
    pub index: u32,
    /// What the model said.
    pub message: AssistantMessage,
    /// Why it stopped.
    pub finish_reason: Option<FinishReason>,
    /// Log probabilities, as the API has them.
    pub logprobs: Option<Value>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(Choice: "a choice" {
    "index" => index, "message" => message [always], "finish_reason" => finish_reason, "logprobs" => logprobs,
});

/// Who answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AnsweredBy {
    /// The provider's name.
    pub provider: Text,
    /// The model that was asked.
    pub model: Text,
    /// The label of the key that was used; never the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Text>,
}

impl AnsweredBy {
    /// A provider and its model.
    pub fn new(provider: impl Into<Text>, model: impl Into<Text>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            key: None,
        }
    }

    /// Adds the label of the key.
    pub fn with_key(mut self, label: impl Into<Text>) -> Self {
        self.key = Some(label.into());
        self
    }
}

/// One answer that is done.
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
    /// One answer of plain text.
    pub fn from_text(text: impl Into<String>) -> Self {
        AssistantMessage::new(text).into()
    }

    /// The first answer's message.
    pub fn message(&self) -> Option<&AssistantMessage> {
        Some(&self.choices.first()?.message)
    }

    /// The first answer's text; empty when there is none.
    pub fn text(&self) -> Cow<'_, str> {
        self.message().map(AssistantMessage::text).unwrap_or_default()
    }

    /// The first answer's tool calls.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.message().into_iter().flat_map(AssistantMessage::tool_calls)
    }

    /// Why the first answer stopped.
    pub fn finish_reason(&self) -> Option<&FinishReason> {
        self.choices.first()?.finish_reason.as_ref()
    }
}
