//! [`ChatResponse`]: a complete reply of a model.

mod metadata;

use std::borrow::Cow;

use serde::{
    Deserialize, Serialize,
    de::{Error, MapAccess},
    ser::SerializeMap,
};
use serde_json::Value;

pub use self::metadata::ResponseMetadata;

use crate::{
    content::marks::EXTENSION_MEMBER,
    conversation::assistant::AssistantMessage,
    cost::usage::Usage,
    object::{self, Extra, Name, Object, object},
    reply::finish::FinishReason,
    small_text::Text,
    tool::call::ToolCall,
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
    /// Useful headers of the HTTP reply, if a transport read it and any were there.
    pub metadata: Option<ResponseMetadata>,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(@serde ChatResponse: "a chat response");

impl Object for ChatResponse {
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        let mut response = Self::default();
        while let Some(name) = map.next_key::<Name<'de>>()? {
            match name.as_str() {
                "id" => response.id = object::value(map)?,
                "created" => response.created = object::value(map)?,
                "model" => response.model = object::value(map)?,
                "choices" => response.choices = object::value(map)?,
                "usage" => response.usage = object::value(map)?,
                "system_fingerprint" => response.system_fingerprint = object::value(map)?,
                "service_tier" => response.service_tier = object::value(map)?,
                EXTENSION_MEMBER => {
                    let extension: Extension = object::value(map)?;
                    response.answered_by = extension.answered_by().map_err(A::Error::missing_field)?;
                    response.metadata = extension.headers;
                }
                _ => {
                    response.extra.insert(name.into_owned(), map.next_value::<Value>()?);
                }
            }
        }
        Ok(response)
    }

    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        object::entry(map, "id", &self.id)?;
        object::entry(map, "created", &self.created)?;
        object::entry(map, "model", &self.model)?;
        map.serialize_entry("choices", &self.choices)?;
        object::entry(map, "usage", &self.usage)?;
        object::entry(map, "system_fingerprint", &self.system_fingerprint)?;
        object::entry(map, "service_tier", &self.service_tier)?;
        if self.answered_by.is_some() || self.metadata.is_some() {
            map.serialize_entry(EXTENSION_MEMBER, &Extension::new(self))?;
        }
        object::extra(map, &self.extra)
    }
}

/// The JSON of what the API has no member for: the members of [`AnsweredBy`], and the headers beside them.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Extension {
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<Text>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<ResponseMetadata>,
}

impl Extension {
    fn new(response: &ChatResponse) -> Self {
        let headers = response.metadata.clone();
        match response.answered_by.clone() {
            None => Self {
                headers,
                ..Self::default()
            },
            Some(AnsweredBy { provider, model, key }) => Self {
                provider: Some(provider),
                model: Some(model),
                key,
                headers,
            },
        }
    }

    /// Returns which provider answered, or the name of the member that is missing.
    fn answered_by(&self) -> Result<Option<AnsweredBy>, &'static str> {
        match (self.provider.clone(), self.model.clone(), self.key.clone()) {
            (None, None, None) => Ok(None),
            (Some(provider), Some(model), key) => Ok(Some(AnsweredBy { provider, model, key })),
            (None, ..) => Err("provider"),
            (_, None, _) => Err("model"),
        }
    }
}

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
    /// Creates a response from a message of the model and the reason it stopped.
    ///
    /// ```
    /// use agcore_chat::{AssistantMessage, ChatResponse, FinishReason};
    ///
    /// let response = ChatResponse::from_message(AssistantMessage::new("Once upon a"), FinishReason::Length);
    /// assert_eq!(response.text(), "Once upon a");
    /// ```
    pub fn from_message(message: AssistantMessage, finish: FinishReason) -> Self {
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

    /// Creates a response that calls tools.
    ///
    /// ```
    /// use agcore_chat::{ChatResponse, ToolCall};
    ///
    /// let response = ChatResponse::from_calls([ToolCall::function("call_1", "weather", r#"{"city": "Oslo"}"#)]);
    /// assert_eq!(response.tool_calls().count(), 1);
    /// ```
    pub fn from_calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::from_message(
            AssistantMessage::from_blocks(calls.into_iter().map(Into::into)),
            FinishReason::ToolCalls,
        )
    }

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
