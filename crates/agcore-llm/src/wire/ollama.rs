#![doc = include_str!("ollama/docs.md")]

mod vendor;
mod decode;
mod embed;
mod encode;
mod keep_alive;
mod settings;

pub use keep_alive::KeepAlive;

use agcore_chat::ChatRequest;

use self::{decode::ChatDecoder, embed::EmbedDecoder, settings::Settings};
use crate::{
    error::LlmError,
    wire::{
        Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest,
        embed::{Embed, EmbedRequest},
        model_list::ModelsDecoder,
        models::ListModels,
    },
};

/// Ollama's own API.
#[derive(Debug, Clone, Default)]
pub struct Ollama {
    settings: Settings,
}

impl Ollama {
    /// The API with the server's own settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the window in tokens for which the model is loaded, unless a request's `options` name another. The server cuts
    /// a longer prompt without a word; a reply whose prompt fills this window is warned of in the log.
    pub fn with_num_ctx(mut self, tokens: u64) -> Self {
        self.settings.num_ctx = Some(tokens);
        self
    }

    /// Sets how long the model stays in memory, unless a request's `extra_body` says otherwise.
    pub fn with_keep_alive(mut self, time: impl Into<KeepAlive>) -> Self {
        self.settings.keep_alive = Some(time.into());
        self
    }
}

impl Wire<Chat> for Ollama {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        encode::encode(&self.settings, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ChatDecoder::new(head, self.settings.num_ctx))
    }
}

impl Wire<ListModels> for Ollama {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        Ok(WireRequest::get("/tags"))
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(ModelsDecoder::new(head))
    }
}

impl Wire<Embed> for Ollama {
    fn encode(&self, request: &EmbedRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        embed::encode(&self.settings, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Embed>> {
        Box::new(EmbedDecoder::new(head))
    }
}
