#![doc = include_str!("openai_chat/docs.md")]

mod decode;
mod embed;
mod encode;
mod vendor;

use std::borrow::Cow;

use agcore_chat::ChatRequest;

use self::{decode::ChatReader, encode::ToolCache};
use crate::{
    decode::{model_list::ModelsDecoder, reply_decoder::ReplyDecoder, tool_names},
    dialect::{Dialect, ReasoningField},
    error::LlmError,
    operation::ListModels,
    wire::{Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The Chat Completions API in the dialect of a vendor.
#[derive(Debug, Clone)]
pub struct OpenAiChat {
    dialect: Dialect,
    query: Cow<'static, str>,
    tool_cache: ToolCache,
}

impl OpenAiChat {
    /// Creates a wire with this dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            query: Cow::Borrowed(""),
            tool_cache: ToolCache::default(),
        }
    }

    /// Sets a query that is appended to every path, without the question mark: `api-version=2024-10-21` for the older
    /// paths of Azure.
    ///
    /// ```
    /// use agcore_chat::{ChatRequest, Message};
    /// use agcore_wire::{Chat, EncodeOptions, Wire, dialect, openai_chat::OpenAiChat};
    ///
    /// let wire = OpenAiChat::new(dialect::azure()).with_query("api-version=2024-10-21");
    /// let request = ChatRequest::new([Message::user("Hi")]);
    /// let encoded = Wire::<Chat>::encode(&wire, &request, &EncodeOptions::new("gpt-5"))?;
    /// assert_eq!(encoded.path, "/chat/completions?api-version=2024-10-21");
    /// # Ok::<(), agcore_wire::LlmError>(())
    /// ```
    #[must_use]
    pub fn with_query(mut self, query: impl Into<Cow<'static, str>>) -> Self {
        self.query = query.into();
        self
    }

    /// Returns the dialect.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    fn reader(&self) -> ChatReader {
        let remembers_members = self.dialect.reasoning.field == ReasoningField::AsReceived;
        ChatReader::new(self.dialect.name.clone(), remembers_members)
    }

    fn path(&self, path: &'static str) -> Cow<'static, str> {
        if self.query.is_empty() {
            path.into()
        } else {
            format!("{path}?{}", self.query).into()
        }
    }
}

impl Wire<Chat> for OpenAiChat {
    fn encode(&self, request: &ChatRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        let path = self.path("/chat/completions");
        encode::encode(&self.dialect, &self.tool_cache, &path, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(ReplyDecoder::new(head, self.reader()))
    }

    fn decoder_for(&self, head: &ReplyHead, request: &ChatRequest) -> Box<dyn Decoder<Chat>> {
        tool_names::restore(Wire::<Chat>::decoder(self, head), request)
    }
}

impl Wire<ListModels> for OpenAiChat {
    fn encode(&self, (): &(), _: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        Ok(WireRequest::get(self.path("/models")))
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<ListModels>> {
        Box::new(ModelsDecoder::new(head))
    }
}
