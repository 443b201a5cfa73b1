#![doc = include_str!("openai_responses/docs.md")]

mod decode;
mod encode;
mod vendor;

use agcore_chat::ChatRequest;

use self::decode::ResponseReader;
use crate::{
    error::LlmError,
    wire::{
        Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest, event_reply::EventReply, model_list::ModelsDecoder,
        models::ListModels,
    },
};

/// The Responses API.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct OpenAiResponses;

impl OpenAiResponses {
    /// The API as OpenAI serves it, and whoever serves it like that.
    pub fn new() -> Self {
        Self
    }
}

impl Wire<Chat> for OpenAiResponses {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(EventReply::new(head, ResponseReader::default()))
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
