//! [`ChatRequest`]: everything that can be asked of a chat model.
//!
//! Parameters after the Chat Completions API reference, "Create chat completion".

mod format;

pub use format::{JsonSchemaFormat, ResponseFormat, StopSequence, StreamOptions};

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::MapAccess, ser::SerializeMap};
use serde_json::Value;

use crate::{
    message::Message,
    object::{self, Extra, Name},
    tool::Tool,
    tool_choice::ToolChoice,
};

macro_rules! request {
    ($($(#[$doc:meta])* $field:ident: $type:ty,)+) => {
        /// A request to a chat model. What is `None` or empty is never written.
        ///
        /// Messages and tools are shared, so that a copy of a request costs a pointer for each message and no text.
        ///
        /// ```
        /// use agcore_chat::{ChatRequest, Message};
        /// let request = ChatRequest::new([Message::user("Hello")]).with_model("gpt-5");
        /// let json = serde_json::to_string(&request).unwrap();
        /// assert_eq!(json, r#"{"model":"gpt-5","messages":[{"role":"user","content":"Hello"}]}"#);
        /// ```
        #[derive(Debug, Clone, Default, PartialEq)]
        #[non_exhaustive]
        pub struct ChatRequest {
            /// The model; empty means the provider's configured one.
            pub model: String,
            /// The conversation.
            pub messages: Vec<Arc<Message>>,
            /// Tools that the model may use, in a stable order.
            pub tools: Arc<[Tool]>,
            /// Which of them it may or must call; written only together with tools.
            pub tool_choice: Option<ToolChoice>,
            /// Whether it may call several tools at once; written only together with tools.
            pub parallel_tool_calls: Option<bool>,
            $($(#[$doc])* pub $field: $type,)+
            /// Members merged into the top level of the body. One that has a field of its own is an error when the request
            /// is written. Members without a field are put here when a request is read.
            pub extra_body: Extra,
            /// HTTP headers for this request; they never enter the body.
            pub extra_headers: Vec<(String, String)>,
        }

        /// The names of all members that have a field.
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
    /// Upper limit of generated tokens, the older name.
    max_tokens: Option<u64>,
    /// Upper limit of generated tokens, reasoning included.
    max_completion_tokens: Option<u64>,
    /// Sampling temperature, 0 to 2.
    temperature: Option<f64>,
    /// Nucleus sampling: the share of probability mass looked at, 0 to 1.
    top_p: Option<f64>,
    /// How many answers.
    n: Option<u32>,
    /// Text at which the model stops.
    stop: Option<StopSequence>,
    /// Penalty on tokens already there, −2 to 2.
    presence_penalty: Option<f64>,
    /// Penalty on frequent tokens, −2 to 2.
    frequency_penalty: Option<f64>,
    /// Bias by token id, −100 to 100.
    logit_bias: Option<BTreeMap<String, f64>>,
    /// Whether log probabilities shall come back.
    logprobs: Option<bool>,
    /// For how many likely tokens at each place, 0 to 20.
    top_logprobs: Option<u32>,
    /// Seed for repeatable sampling, as far as the vendor goes.
    seed: Option<i64>,
    /// The answer's form.
    response_format: Option<ResponseFormat>,
    /// How much the model shall reason: `none`, `minimal`, `low`, `medium`, `high` …
    reasoning_effort: Option<String>,
    /// How long the answer shall be: `low`, `medium`, `high`.
    verbosity: Option<String>,
    /// Forms of the answer: `text`, `audio`.
    modalities: Vec<String>,
    /// Voice and format of a spoken answer, as the API has them.
    audio: Option<Value>,
    /// Predicted output, as the API has it.
    prediction: Option<Value>,
    /// Web search, as the API has it.
    web_search_options: Option<Value>,
    /// Service class: `auto`, `default`, `flex`, `priority`.
    service_tier: Option<String>,
    /// Whether the vendor shall store the reply.
    store: Option<bool>,
    /// Notes on a stored reply.
    metadata: Option<BTreeMap<String, String>>,
    /// The end user's id, the older name.
    user: Option<String>,
    /// The end user's id for the vendor's abuse checks.
    safety_identifier: Option<String>,
    /// Groups requests that share a prompt prefix, for the vendor's cache.
    prompt_cache_key: Option<String>,
    /// How long the vendor's cache shall keep the prefix: `in-memory`, `24h`.
    prompt_cache_retention: Option<String>,
    /// Whether the reply shall be streamed; providers set it.
    stream: Option<bool>,
    /// How it shall be streamed; providers set it.
    stream_options: Option<StreamOptions>,
}

impl ChatRequest {
    /// A request with these messages for the provider's configured model.
    pub fn new<M: Into<Arc<Message>>>(messages: impl IntoIterator<Item = M>) -> Self {
        Self {
            messages: messages.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the model.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets the tools.
    pub fn with_tools(mut self, tools: impl Into<Arc<[Tool]>>) -> Self {
        self.tools = tools.into();
        self
    }

    /// Sets which tools may or must be called.
    pub fn with_tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    /// Sets the upper limit of generated tokens; each dialect writes it under the name its vendor takes.
    pub fn with_max_tokens(mut self, tokens: u64) -> Self {
        self.max_completion_tokens = Some(tokens);
        self.max_tokens = None;
        self
    }

    /// Sets the sampling temperature, 0 to 2.
    pub fn with_temperature(mut self, temperature: f64) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the answer's form.
    pub fn with_response_format(mut self, format: ResponseFormat) -> Self {
        self.response_format = Some(format);
        self
    }

    /// Adds a member to the top level of the body.
    pub fn with_extra_body(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra_body.insert(name, value);
        self
    }

    /// Adds an HTTP header for this request.
    pub fn with_extra_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra_headers.push((name.into(), value.into()));
        self
    }

    /// The limit of generated tokens, under whichever name it was set.
    pub fn token_limit(&self) -> Option<u64> {
        self.max_completion_tokens.or(self.max_tokens)
    }

    /// The first member of `extra_body` that has a field of its own, and so cannot be written.
    pub fn extra_body_clash(&self) -> Option<&str> {
        self.extra_body
            .iter()
            .map(|(name, _)| name.as_str())
            .find(|name| FIELDS.contains(name))
    }
}

impl Serialize for ChatRequest {
    /// # Errors
    /// When a member of `extra_body` has a field of its own.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(name) = self.extra_body_clash() {
            return Err(serde::ser::Error::custom(format_args!(
                "extra_body must not hold `{name}`: set the request's field of that name instead"
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
