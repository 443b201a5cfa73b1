#![doc = include_str!("ollama/docs.md")]

mod vendor;
mod settings;
mod encode;
mod decode;
mod embed;

use agcore_chat::ChatRequest;

pub use self::settings::KeepAlive;
use self::{decode::ChatDecoder, embed::EmbedDecoder, settings::Settings};
use crate::{
    decode::{model_list::ModelsDecoder, tool_names},
    error::LlmError,
    operation::{Embed, EmbedRequest, ListModels},
    wire::{Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The native API of Ollama.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_wire::{Chat, EncodeOptions, Wire, ollama::Ollama};
///
/// let wire = Ollama::new().with_num_ctx(8192).with_keep_alive(Duration::from_secs(600));
/// let request = ChatRequest::new([Message::user("Hi")]);
/// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("qwen3"))?;
/// assert_eq!(
///     encoded.body,
///     r#"{"model":"qwen3","messages":[{"role":"user","content":"Hi"}],"stream":false,"options":{"num_ctx":8192},"keep_alive":600}"#
/// );
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "a wire does nothing until it encodes or decodes"]
pub struct Ollama {
    settings: Settings,
}

impl Ollama {
    /// Creates the wire. The server uses its own settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the context window in tokens, unless the `options` of a request set another one.
    ///
    /// The server silently truncates a prompt that is longer. If a prompt fills the window, the decoder logs a warning.
    pub fn with_num_ctx(mut self, tokens: u64) -> Self {
        self.settings.num_ctx = Some(tokens);
        self
    }

    /// Sets how long the model stays in memory, unless the `extra_body` of a request sets another time.
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

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
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
