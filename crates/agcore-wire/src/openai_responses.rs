#![doc = include_str!("openai_responses/docs.md")]

mod vendor;
mod encode;
mod decode;

use agcore_chat::ChatRequest;

use self::decode::ResponseReader;
use crate::{
    decode::{model_list::ModelsDecoder, reply_decoder::ReplyDecoder, tool_names},
    error::LlmError,
    operation::ListModels,
    wire::{Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The OpenAI Responses API.
///
/// ```
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, openai_responses::OpenAiResponses};
///
/// let wire = OpenAiResponses::new();
/// let request = ChatRequest::new([Message::user("Hi")]).with_max_tokens(100);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gpt-5-mini"))?;
/// assert_eq!(
///     encoded.body,
///     // The encrypted form of reasoning is requested from models that reason, so that it can be sent back.
///     r#"{"model":"gpt-5-mini","input":[{"role":"user","content":"Hi"}],"max_output_tokens":100,"include":["reasoning.encrypted_content"]}"#
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
#[must_use = "a wire does nothing until it encodes or decodes"]
pub struct OpenAiResponses;

impl OpenAiResponses {
    /// Creates the wire, for OpenAI and for servers that implement the same API.
    pub fn new() -> Self {
        Self
    }
}

impl Wire<Chat> for OpenAiResponses {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ReplyDecoder::new(head, ResponseReader::default()))
    }

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
    }
}

impl Wire<ListModels> for OpenAiResponses {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        Ok(WireRequest::get("/models"))
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(ModelsDecoder::new(head))
    }
}
