#![doc = include_str!("openai_chat/docs.md")]

mod decode;
mod embed;
mod encode;

use std::borrow::Cow;

use agcore_chat::ChatRequest;

use self::{decode::ChatReader, encode::WrittenTools};
use crate::{
    dialect::Dialect,
    error::LlmError,
    wire::{
        Chat, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest, event_reply::EventReply, model_list::ModelsDecoder,
        models::ListModels,
    },
};

/// The Chat Completions API in one vendor's dialect.
#[derive(Debug, Clone)]
pub struct OpenAiChat {
    dialect: Dialect,
    query: Cow<'static, str>,
    written_tools: WrittenTools,
}

impl OpenAiChat {
    /// The API in this dialect.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            query: Cow::Borrowed(""),
            written_tools: WrittenTools::default(),
        }
    }

    /// Sets what follows the path, without the question mark: `api-version=2024-10-21` for the older paths of Azure.
    pub fn with_query(mut self, query: impl Into<Cow<'static, str>>) -> Self {
        self.query = query.into();
        self
    }

    /// The dialect.
    pub fn dialect(&self) -> &Dialect {
        &self.dialect
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
        encode::encode(&self.dialect, &self.written_tools, &path, request, options)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Chat>> {
        Box::new(EventReply::new(head, ChatReader::new(self.dialect.name.clone())))
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
