#![doc = include_str!("anthropic/docs.md")]

mod settings;
mod body;
mod encode;
mod decode;
mod models;
mod count;

use std::borrow::Cow;

use agcore_chat::ChatRequest;

pub use self::settings::Thinking;
use self::{count::CountDecoder, decode::MessageReader, encode::Purpose, models::ModelsDecoder, settings::Settings};
use crate::{
    error::LlmError,
    wire::{
        Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest, count_tokens::CountTokens, event_reply::EventReply,
        models::ListModels,
    },
};

/// How many models one list may hold: the most that the API allows.
const MODELS: &str = "/models?limit=1000";

/// The Anthropic Messages API.
#[derive(Debug, Clone, Default)]
pub struct Anthropic {
    settings: Settings,
}

impl Anthropic {
    /// The API as Anthropic itself serves it.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the version of the API, `2023-06-01` by default.
    pub fn with_version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.settings.version = version.into();
        self
    }

    /// Adds a feature that the API offers before it is settled, as `anthropic-beta` names it.
    pub fn with_beta(mut self, beta: impl Into<Cow<'static, str>>) -> Self {
        self.settings.betas.push(beta.into());
        self
    }

    /// Sets who serves the API, `anthropic` by default: signatures and hosted items go back to whom they came from and to
    /// nobody else.
    pub fn with_vendor(mut self, vendor: impl Into<Cow<'static, str>>) -> Self {
        self.settings.vendor = vendor.into();
        self
    }

    /// Sets the limit of generated tokens for requests that name none; the API wants one always. Otherwise it is 20 000,
    /// or 4096 for Claude 3.
    pub fn with_default_max_tokens(mut self, tokens: u64) -> Self {
        self.settings.default_max_tokens = Some(tokens);
        self
    }

    /// Sets how `reasoning_effort` is said; by default the model's name tells.
    pub fn with_thinking(mut self, thinking: Thinking) -> Self {
        self.settings.thinking = thinking;
        self
    }

    /// Says that the model takes instructions in the middle of a conversation as messages of their own, as Claude does
    /// from Opus 4.8 on. Otherwise they stand in the user's turn, marked as instructions.
    pub fn with_system_turns(mut self, is_taken: bool) -> Self {
        self.settings.system_turns = is_taken;
        self
    }
}

impl Wire<Chat> for Anthropic {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(&self.settings, Purpose::Answer, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(EventReply::new(head, MessageReader::new(self.settings.vendor.clone())))
    }
}

impl Wire<CountTokens> for Anthropic {
    /// What does not bear on the count (limits, sampling, streaming) is checked like in a request for an answer, but not
    /// written: the API refuses it here.
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(&self.settings, Purpose::Count, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<CountTokens>> {
        Box::new(CountDecoder::new(head))
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
