//! The answer to `POST /messages/count_tokens`.

use serde_json::{Map, Value};

use super::body;
use crate::{
    error::LlmError,
    wire::{
        Close, Decoder, ReplyHead,
        count_tokens::{CountTokens, TokenCount},
        document::Document,
    },
};

/// Reads a count.
#[derive(Debug)]
pub(super) struct CountDecoder(Document);

impl CountDecoder {
    pub(super) fn new(head: &ReplyHead) -> Self {
        Self(Document::new(head))
    }
}

impl Decoder<CountTokens> for CountDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<TokenCount>) -> Result<(), LlmError> {
        self.0.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<TokenCount>) -> Result<(), LlmError> {
        items.push(body::object(&self.0, close, "count of tokens", count)?);
        Ok(())
    }
}

fn count(mut reply: Map<String, Value>) -> Option<TokenCount> {
    let input_tokens = reply.shift_remove("input_tokens")?.as_u64()?;
    Some(TokenCount {
        input_tokens,
        extra: reply.into(),
    })
}
