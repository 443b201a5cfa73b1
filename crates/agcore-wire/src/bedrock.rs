#![doc = include_str!("bedrock/docs.md")]

mod vendor;
mod settings;
mod path;
mod encode;
mod decode;

use std::borrow::Cow;

use agcore_chat::ChatRequest;

use self::{decode::ChatDecoder, settings::Settings};
use crate::{
    decode::tool_names,
    error::{LlmError, LlmErrorKind, Unsupported},
    operation::{ListModels, ModelEntry},
    wire::{Chat, Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The Converse API of Amazon Bedrock.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, bedrock::Bedrock};
///
/// let request = ChatRequest::new([Message::system("Be brief."), Message::user("Hi")]);
/// let encoded = Wire::<Chat>::encode(&Bedrock::new(), &request, &EncodeOptions::new("us.amazon.nova-lite-v1:0"))?;
/// assert_eq!(encoded.path, "/model/us.amazon.nova-lite-v1%3A0/converse");
/// assert_eq!(
///     encoded.body,
///     r#"{"system":[{"text":"Be brief."}],"messages":[{"role":"user","content":[{"text":"Hi"}]}]}"#
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a wire does nothing until it encodes or decodes"]
pub struct Bedrock {
    settings: Settings,
}

impl Bedrock {
    /// Creates the wire.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the vendor that serves the API, `bedrock` by default.
    ///
    /// Signatures and items of tools that the vendor runs are sent back only to the vendor that created them.
    pub fn with_vendor(mut self, vendor: impl Into<Cow<'static, str>>) -> Self {
        self.settings.vendor = vendor.into();
        self
    }

    /// Sets whether the wire places cache points by itself, for models that have them. The default is `false`. A request in which
    /// the application has marked any part keeps its own marks.
    ///
    /// ```
    /// use agcore_chat::{ChatRequest, Message};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, bedrock::Bedrock};
    ///
    /// let request = ChatRequest::new([Message::user("Hi"), Message::assistant("Hello"), Message::user("How are you?")]);
    /// let points = |model: &str| {
    ///     let wire = Bedrock::new().with_automatic_caching(true);
    ///     let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new(model)).unwrap();
    ///     String::from_utf8_lossy(&encoded.body).matches("cachePoint").count()
    /// };
    ///
    /// assert_eq!(points("anthropic.claude-sonnet-4-5-20250929-v1:0"), 2);
    /// assert_eq!(points("meta.llama3-8b-instruct-v1:0"), 0);
    /// ```
    pub fn with_automatic_caching(mut self, enabled: bool) -> Self {
        self.settings.automatic_caching = enabled;
        self
    }

    /// Sets the id of the model behind an inference profile of the application, whose ARN does not show it. The rules of this model
    /// apply to every request.
    ///
    /// ```
    /// use agcore_chat::{ChatRequest, Message};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, bedrock::Bedrock};
    ///
    /// let mut request = ChatRequest::new([Message::user("Hi")]);
    /// request.reasoning_effort = Some("low".into());
    /// let profile = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc";
    /// let encode = |wire: Bedrock| Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new(profile));
    ///
    /// assert!(encode(Bedrock::new()).is_err());
    /// assert!(encode(Bedrock::new().with_model("anthropic.claude-sonnet-4-6")).is_ok());
    /// ```
    pub fn with_model(mut self, id: impl Into<Box<str>>) -> Self {
        self.settings.model = Some(id.into());
        self
    }
}

impl Wire<Chat> for Bedrock {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(&self.settings, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ChatDecoder::new(head, self.settings.vendor.clone()))
    }

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
    }
}

/// Always fails: another server has the list of models.
impl Wire<ListModels> for Bedrock {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        Err(no_list())
    }

    fn decoder(&self, _: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(NoModels)
    }
}

#[derive(Debug)]
struct NoModels;

impl Decoder<ListModels> for NoModels {
    fn feed(&mut self, _: &[u8], _: &mut Vec<ModelEntry>) -> Result<(), LlmError> {
        Err(no_list())
    }

    fn finish(&mut self, _: Close, _: &mut Vec<ModelEntry>) -> Result<(), LlmError> {
        Err(no_list())
    }
}

fn no_list() -> LlmError {
    let message = "the Converse API has no list of models: run `aws bedrock list-foundation-models`";
    LlmError::new(LlmErrorKind::InvalidRequest, message).with_unsupported(Unsupported::new("models"))
}
