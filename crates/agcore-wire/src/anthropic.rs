#![doc = include_str!("anthropic/docs.md")]

mod vendor;
mod settings;
mod encode;
mod decode;
mod models;

use std::borrow::Cow;

use agcore_chat::ChatRequest;

pub use self::settings::Thinking;
use self::{decode::MessageReader, models::ModelsDecoder, settings::Settings};
use crate::{
    decode::{reply_decoder::ReplyDecoder, tool_names},
    error::LlmError,
    operation::ListModels,
    wire::{Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The path of the model list, with the largest page that the API allows.
const MODELS: &str = "/models?limit=1000";

/// The Anthropic Messages API.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, anthropic::Anthropic};
///
/// let wire = Anthropic::new().with_beta("context-1m-2025-08-07").with_default_max_tokens(1024);
/// let request = ChatRequest::new([Message::user("Hello")]);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("claude-sonnet-5"))?;
///
/// assert_eq!(encoded.headers["anthropic-version"], "2023-06-01");
/// assert_eq!(encoded.headers["anthropic-beta"], "context-1m-2025-08-07");
/// let body: serde_json::Value = serde_json::from_slice(&encoded.body).unwrap();
/// assert_eq!(body["max_tokens"], 1024);
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a wire does nothing until it encodes or decodes"]
pub struct Anthropic {
    settings: Settings,
}

impl Anthropic {
    /// Creates the wire for the API as Anthropic serves it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the version of the API, `2023-06-01` by default.
    pub fn with_version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.settings.version = version.into();
        self
    }

    /// Enables a beta feature by its name in the header `anthropic-beta`. Can be called several times.
    pub fn with_beta(mut self, beta: impl Into<Cow<'static, str>>) -> Self {
        self.settings.betas.push(beta.into());
        self
    }

    /// Sets the vendor that serves the API, `anthropic` by default.
    ///
    /// Signed reasoning and hosted items are sent back only to the vendor that created them.
    ///
    /// ```
    /// use agcore_chat::{AssistantMessage, Block, ChatRequest, Message, Reasoning, VendorData};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, anthropic::Anthropic};
    /// use serde_json::json;
    ///
    /// let signed = Reasoning::new("Hm.").with_vendor(VendorData::new("anthropic", json!({"signature": "abc"})));
    /// let reply = AssistantMessage::from_blocks([Block::Reasoning(signed), Block::text("Hello")]);
    /// let request = ChatRequest::new([Message::user("Hi"), reply.into(), Message::user("Go on")]);
    /// let sends_signature = |wire: Anthropic| {
    ///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("m")).unwrap();
    ///     String::from_utf8_lossy(&encoded.body).contains("signature")
    /// };
    ///
    /// assert!(sends_signature(Anthropic::new()));
    /// assert!(!sends_signature(Anthropic::new().with_vendor("deepseek")));
    /// ```
    pub fn with_vendor(mut self, vendor: impl Into<Cow<'static, str>>) -> Self {
        self.settings.vendor = vendor.into();
        self
    }

    /// Sets the limit of generated tokens for requests that set none, since the API requires one. The default is 20 000,
    /// or 4096 for Claude 3.
    pub fn with_default_max_tokens(mut self, tokens: u64) -> Self {
        self.settings.default_max_tokens = Some(tokens);
        self
    }

    /// Sets how `reasoning_effort` is sent. By default this depends on the name of the model.
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.settings.thinking = thinking;
        self
    }

    /// Sets whether instructions in the middle of a conversation are sent as messages of the role `system`, which Claude
    /// supports from Opus 4.8 on. Otherwise they are sent in a user message, marked as instructions.
    ///
    /// ```
    /// use agcore_chat::{ChatRequest, Message};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, anthropic::Anthropic};
    /// use serde_json::{Value, json};
    ///
    /// let request = ChatRequest::new([Message::user("Hi"), Message::system("Be brief.")]);
    /// let messages = |wire: Anthropic| {
    ///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("claude-opus-4-8")).unwrap();
    ///     serde_json::from_slice::<Value>(&encoded.body).unwrap()["messages"].clone()
    /// };
    ///
    /// let marked = messages(Anthropic::new());
    /// assert_eq!(marked[0]["content"][1]["text"], "<system>\nBe brief.\n</system>");
    /// let separate = messages(Anthropic::new().with_system_turns(true));
    /// assert_eq!(separate[1], json!({"role": "system", "content": [{"type": "text", "text": "Be brief."}]}));
    /// ```
    pub fn with_system_turns(mut self, enabled: bool) -> Self {
        self.settings.system_turns = enabled;
        self
    }

    /// Sets whether cache marks are placed automatically, which is the default.
    ///
    /// The API caches a prompt only up to a mark (`cache_control`). The last tool, the last instruction, the end of the
    /// previous request and the end of this one are marked, so that each round of a tool loop reads what the round before has
    /// written. A mark of the application anywhere in the request (or `cache_control` in `extra_body`) turns this off for the
    /// request. So does a request that is unlikely to be continued: one without a reply of the model, and without tools that
    /// the model may choose to call. Its prompt would be written to the cache, which costs 25 % more, and never be read.
    ///
    /// ```
    /// use agcore_chat::{ChatRequest, Message};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, anthropic::Anthropic};
    ///
    /// let request = ChatRequest::new([Message::user("Hi"), Message::assistant("Hello!"), Message::user("How are you?")]);
    /// let marks = |wire: Anthropic| {
    ///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("claude-sonnet-5")).unwrap();
    ///     String::from_utf8_lossy(&encoded.body).matches("cache_control").count()
    /// };
    ///
    /// assert_eq!(marks(Anthropic::new()), 2); // the ends of the previous request and of this one
    /// assert_eq!(marks(Anthropic::new().with_automatic_caching(false)), 0);
    /// ```
    pub fn with_automatic_caching(mut self, enabled: bool) -> Self {
        self.settings.automatic_caching = enabled;
        self
    }
}

impl Wire<Chat> for Anthropic {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(&self.settings, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ReplyDecoder::new(
            head,
            MessageReader::new(self.settings.vendor.clone()),
        ))
    }

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
    }

    fn default_token_limit(&self, model: &str) -> Option<u64> {
        Some(encode::default_token_limit(&self.settings, model))
    }
}

impl Wire<ListModels> for Anthropic {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        let mut wire = WireRequest::get(MODELS);
        encode::add_headers(&mut wire.headers, &self.settings, &[], &[])?;
        Ok(wire)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(ModelsDecoder::new(head))
    }
}
