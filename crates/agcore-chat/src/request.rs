//! [`ChatRequest`]: a request to a chat model.
//!
//! The parameters follow "Create chat completion" of the Chat Completions API reference.

mod format;
mod messages;
mod setters;

pub use format::{JsonSchemaFormat, ResponseFormat, StopSequence, StreamOptions};
pub use messages::Messages;

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::MapAccess, ser::SerializeMap};
use serde_json::Value;

use crate::{
    conversation::message::Message,
    object::{self, Extra, Name},
    tool::{Tool, choice::ToolChoice},
};

macro_rules! request {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)+) => {
        /// A request to a chat model. Fields that are `None` or empty are not serialized.
        ///
        /// Messages and tools are shared: cloning a request copies one pointer per message and no text.
        ///
        /// ```
        /// use agcore_chat::{ChatRequest, Message};
        ///
        /// let request = ChatRequest::new([Message::user("Hello")]).with_model("gpt-5");
        /// let json = serde_json::to_string(&request)?;
        /// assert_eq!(json, r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}"#);
        /// # Ok::<(), serde_json::Error>(())
        /// ```
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct ChatRequest {
            /// The model; empty for the one that the provider is configured with.
            pub model: String,
            /// The conversation.
            pub messages: Messages,
            /// The tools that the model may use, in a stable order.
            pub tools: Arc<[Tool]>,
            /// Which of the tools the model may or must call; serialized only together with tools.
            pub tool_choice: Option<ToolChoice>,
            /// Whether the model may call several tools at once; serialized only together with tools.
            pub parallel_tool_calls: Option<bool>,
            $($(#[$doc])* pub $field: $type,)+
            /// Members that are merged into the top level of the body. A member that has a field of its own is an error
            /// when the request is serialized. Unknown members of a deserialized request are stored here.
            pub extra_body: Extra,
            /// HTTP headers for this request; never part of the body.
            pub extra_headers: Vec<(String, String)>,
        }

        /// The names of all members that have a field of their own.
        const FIELDS: &[&str] =
            &["model", "messages", "tools", "tool_choice", "parallel_tool_calls", $(stringify!($field),)+];

        impl ChatRequest {
            fn write_parameters<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
                $(object::entry(map, stringify!($field), &self.$field)?;)+
                Ok(())
            }

            fn read_parameter<'de, A: MapAccess<'de>>(&mut self, name: Name<'de>, map: &mut A) -> Result<(), A::Error> {
                match name.as_str() {
                    $(stringify!($field) => self.$field = object::value(map)?,)+
                    _ => {
                        self.extra_body.insert(name.into_owned(), map.next_value::<Value>()?);
                    }
                }
                Ok(())
            }
        }
    };
}

request! {
    /// The limit on generated tokens, under its older name.
    max_tokens: Option<u64>,
    /// The limit on generated tokens, including reasoning.
    max_completion_tokens: Option<u64>,
    /// The sampling temperature, 0 to 2.
    temperature: Option<f64>,
    /// Nucleus sampling: the share of probability mass that is considered, 0 to 1.
    top_p: Option<f64>,
    /// The number of answers to generate.
    n: Option<u32>,
    /// Texts at which the model stops.
    stop: Option<StopSequence>,
    /// The penalty on tokens that have already occurred, −2 to 2.
    presence_penalty: Option<f64>,
    /// The penalty on tokens in proportion to their frequency so far, −2 to 2.
    frequency_penalty: Option<f64>,
    /// The bias of each token id, −100 to 100.
    logit_bias: Option<BTreeMap<String, f64>>,
    /// Whether to return log probabilities.
    logprobs: Option<bool>,
    /// For how many of the likeliest tokens at each position to return log probabilities, 0 to 20.
    top_logprobs: Option<u32>,
    /// The seed for repeatable sampling; vendors do not guarantee that it is.
    seed: Option<i64>,
    /// The format of the answer.
    response_format: Option<ResponseFormat>,
    /// How much the model should reason: `none`, `minimal`, `low`, `medium`, `high` …
    reasoning_effort: Option<String>,
    /// How detailed the answer should be: `low`, `medium`, `high`.
    verbosity: Option<String>,
    /// The output modalities: `text`, `audio`.
    modalities: Vec<String>,
    /// The voice and format of a spoken answer, as defined by the API.
    audio: Option<Value>,
    /// The predicted output, as defined by the API.
    prediction: Option<Value>,
    /// Options for web search, as defined by the API.
    web_search_options: Option<Value>,
    /// The service class: `auto`, `default`, `flex`, `priority`.
    service_tier: Option<String>,
    /// Whether the vendor may store the reply.
    store: Option<bool>,
    /// Metadata of a stored reply.
    metadata: Option<BTreeMap<String, String>>,
    /// The end user's id, under its older name.
    user: Option<String>,
    /// The end user's id, for the vendor's detection of abuse.
    safety_identifier: Option<String>,
    /// A key for requests that share a prompt prefix, for the vendor's cache.
    prompt_cache_key: Option<String>,
    /// How long the vendor's cache should keep the prefix: `in-memory`, `24h`.
    prompt_cache_retention: Option<String>,
    /// Whether to stream the reply; set by providers.
    stream: Option<bool>,
    /// How to stream the reply; set by providers.
    stream_options: Option<StreamOptions>,
}

impl ChatRequest {
    /// Creates a request with these messages, for the model that the provider is configured with.
    pub fn new<M: Into<Arc<Message>>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the tools.
    #[must_use]
    pub fn with_tools(mut self, tools: impl Into<Arc<[Tool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets which of the tools the model may or must call.
    #[must_use]
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Sets the limit on generated tokens. Each dialect sends it under the name that its vendor accepts.
    #[must_use]
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_completion_tokens = Some(tokens);
        self.max_tokens = None;
        self
    }

    /// Sets the sampling temperature, 0 to 2.
    #[must_use]
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the format of the answer.
    #[must_use]
    pub fn with_response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// Adds a member to the top level of the body.
    #[must_use]
    pub fn with_extra_body(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra_body.insert(name, value);
        self
    }

    /// Adds an HTTP header for this request.
    #[must_use]
    pub fn with_extra_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra_headers.push((name.into(), value.into()));
        self
    }

    /// Returns the limit on generated tokens, under whichever name it was set.
    pub fn token_limit(&self) -> Option<u64> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    /// Returns the first member of `extra_body` that has a field of its own, and therefore cannot be serialized.
    pub fn extra_body_clash(&self) -> Option<&str> {
        self.extra_body
            .iter()
            .map(|(name, _)| name.as_str())
            .find(|name| FIELDS.contains(name))
    }
}

impl Serialize for ChatRequest {
    /// # Errors
    /// If a member of `extra_body` has a field of its own.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(name) = self.extra_body_clash() {
            return Err(serde::ser::Error::custom(format_args!(
                "extra_body must not contain `{name}`: set the request's field of that name instead"
            )));
        }
        let mut map = serializer.serialize_map(None)?;
        if !self.model.is_empty() {
            map.serialize_entry("model", &self.model)?;
        }
        map.serialize_entry("messages", &self.messages)?;
        if !self.tools.is_empty() {
            map.serialize_entry("tools", &self.tools)?;
            object::entry(&mut map, "tool_choice", &self.tool_choice)?;
            object::entry(&mut map, "parallel_tool_calls", &self.parallel_tool_calls)?;
        }
        self.write_parameters(&mut map)?;
        object::extra(&mut map, &self.extra_body)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for ChatRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RequestVisitor;
        impl<'de> serde::de::Visitor<'de> for RequestVisitor {
            type Value = ChatRequest;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a chat request")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<ChatRequest, A::Error> {
                let mut request = ChatRequest::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    match name.as_str() {
                        "model" => request.model = object::value(&mut map)?,
                        "messages" => request.messages = object::value(&mut map)?,
                        "tools" => request.tools = object::value::<_, Vec<Tool>>(&mut map)?.into(),
                        "tool_choice" => request.tool_choice = object::value(&mut map)?,
                        "parallel_tool_calls" => {
                            request.parallel_tool_calls = object::value(&mut map)?;
                        }
                        _ => request.read_parameter(name, &mut map)?,
                    }
                }
                Ok(request)
            }
        }
        deserializer.deserialize_map(RequestVisitor)
    }
}
