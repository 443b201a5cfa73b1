#![doc = include_str!("gemini/docs.md")]

mod vendor;
mod settings;
mod path;
mod encode;
mod decode;
mod embed;
mod models;

use std::borrow::Cow;

use agcore_chat::ChatRequest;

pub use self::settings::Thinking;
use self::{decode::ReplyReader, embed::EmbedDecoder, models::ModelsDecoder, settings::Settings};
use crate::{
    decode::{reply_decoder::ReplyDecoder, tool_names},
    error::LlmError,
    operation::{Embed, EmbedRequest, ListModels},
    wire::{Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The path of the model list, with the largest page that the API allows.
const MODELS: &str = "/models?pageSize=1000";

/// The native API of Gemini.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, gemini::Gemini};
///
/// let request = ChatRequest::new([Message::system("Be brief."), Message::user("Hi")]);
/// let encoded = Wire::<Chat>::encode(&Gemini::new(), &request, &EncodeOptions::new("gemini-2.5-flash"))?;
/// assert_eq!(encoded.path, "/models/gemini-2.5-flash:generateContent");
/// assert_eq!(
///     encoded.body,
///     r#"{"systemInstruction":{"parts":[{"text":"Be brief."}]},"contents":[{"role":"user","parts":[{"text":"Hi"}]}]}"#
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a wire does nothing until it encodes or decodes"]
pub struct Gemini {
    settings: Settings,
}

impl Gemini {
    /// Creates the wire.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the vendor that serves the API, `gemini-native` by default.
    ///
    /// Signatures and items of tools that the vendor runs are sent back only to the vendor that created them.
    ///
    /// ```
    /// use agcore_chat::{AssistantMessage, ChatRequest, Message, ToolCall, VendorData};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, gemini::Gemini};
    /// use serde_json::json;
    ///
    /// let data = VendorData::new("gemini-native", json!({"thoughtSignature": "c2ln"}));
    /// let call = ToolCall::function("call_0", "weather", "{}").with_vendor(data);
    /// let reply = AssistantMessage::default().with_call(call);
    /// let request = ChatRequest::new([Message::user("Hi"), reply.into(), Message::tool("call_0", "sunny")]);
    /// let sends_signature = |wire: Gemini| {
    ///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gemini-3-flash")).unwrap();
    ///     String::from_utf8_lossy(&encoded.body).contains("c2ln")
    /// };
    ///
    /// assert!(sends_signature(Gemini::new()));
    /// assert!(!sends_signature(Gemini::new().with_vendor("vertex")));
    /// ```
    pub fn with_vendor(mut self, vendor: impl Into<Cow<'static, str>>) -> Self {
        self.settings.vendor = vendor.into();
        self
    }

    /// Sets how `reasoning_effort` is sent. By default this depends on the name of the model.
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.settings.thinking = thinking;
        self
    }

    /// Sets whether the model returns its thoughts if a request sets `reasoning_effort`, which is the default. A request
    /// overrides this with `generationConfig.thinkingConfig.includeThoughts` in its `extra_body`.
    pub fn with_thoughts(mut self, enabled: bool) -> Self {
        self.settings.thoughts = enabled;
        self
    }

    /// Sets whether calls that another vendor made are sent with a signature that the API does not check. The default is
    /// `false`: they are sent without one.
    ///
    /// Gemini 3 refuses a conversation in which the first call of a message has no signature. This lets it continue the
    /// conversation of another model.
    ///
    /// ```
    /// use agcore_chat::{AssistantMessage, ChatRequest, Message, ToolCall};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, gemini::Gemini};
    ///
    /// let reply = AssistantMessage::default().with_call(ToolCall::function("toolu_1", "weather", "{}"));
    /// let request = ChatRequest::new([Message::user("Hi"), reply.into(), Message::tool("toolu_1", "sunny")]);
    /// let has_signature = |wire: Gemini| {
    ///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gemini-3-flash")).unwrap();
    ///     String::from_utf8_lossy(&encoded.body).contains("thoughtSignature")
    /// };
    ///
    /// assert!(!has_signature(Gemini::new()));
    /// assert!(has_signature(Gemini::new().with_placeholder_signatures(true)));
    /// ```
    pub fn with_placeholder_signatures(mut self, enabled: bool) -> Self {
        self.settings.placeholder_signatures = enabled;
        self
    }
}

impl Wire<Chat> for Gemini {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(&self.settings, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ReplyDecoder::new(head, ReplyReader::new(self.settings.vendor.clone())))
    }

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
    }
}

impl Wire<ListModels> for Gemini {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        Ok(WireRequest::get(MODELS))
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(ModelsDecoder::new(head))
    }
}

impl Wire<Embed> for Gemini {
    fn encode(&self, request: &EmbedRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        embed::encode(request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Embed>> {
        Box::new(EmbedDecoder::new(head))
    }
}
