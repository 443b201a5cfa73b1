//! Embeddings: `POST /embeddings`.

mod vector;

use agcore_chat::Usage;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use self::vector::Vector;
use super::OpenAiChat;
use crate::{
    decode::{document::Document, lenient::LenientCount},
    encode::{check_extra_body, extra_headers, invalid_request, model},
    error::LlmError,
    operation::{Embed, EmbedItem, EmbedRequest},
    wire::{Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The maximum number of texts in a request to OpenAI, and to most other servers.
const MAX_INPUTS: usize = 2048;

/// The maximum number of texts of vendors with a lower limit, from their references.
const LOWER_MAX_INPUTS: &[(&str, usize)] = &[("gemini", 100), ("qwen", 10), ("zhipu", 64)];

/// The vendors that do not support embeddings.
const UNSUPPORTED: &[&str] = &["deepseek", "groq", "moonshot"];

impl OpenAiChat {
    /// Returns the maximum number of texts in one request for embeddings.
    ///
    /// ```
    /// use agcore_wire::{dialect, openai_chat::OpenAiChat};
    ///
    /// assert_eq!(OpenAiChat::new(dialect::gemini()).max_embed_inputs(), 100);
    /// ```
    pub fn max_embed_inputs(&self) -> usize {
        let name = &*self.dialect().name;
        let lower = LOWER_MAX_INPUTS.iter().find(|(vendor, _)| *vendor == name);
        lower.map_or(MAX_INPUTS, |(_, max)| *max)
    }
}

impl Wire<Embed> for OpenAiChat {
    fn encode(&self, request: &EmbedRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        let vendor = &*self.dialect().name;
        if UNSUPPORTED.contains(&vendor) {
            let message = format!("{vendor} does not support embeddings: use another vendor for them");
            return Err(invalid_request(message));
        }
        check_extra_body(request.extra_body_clash())?;
        let model = model(&request.model, options)?;
        let body = Body { model, request };
        let bytes = serde_json::to_vec(&body).map_err(|error| invalid_request(error.to_string()))?;
        let mut wire = WireRequest::post(self.path("/embeddings"), bytes);
        extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
        Ok(wire)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Embed>> {
        Box::new(EmbedDecoder(Document::new(head)))
    }
}

struct Body<'a> {
    model: &'a str,
    request: &'a EmbedRequest,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("input", &self.request.inputs)?;
        if let Some(dimensions) = self.request.dimensions {
            map.serialize_entry("dimensions", &dimensions)?;
        }
        self.request
            .extra_body
            .iter()
            .try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// The decoder of the reply, which is not streamed.
#[derive(Debug)]
struct EmbedDecoder(Document);

#[derive(Debug, Deserialize)]
struct Reply {
    #[serde(default)]
    data: Option<Vec<Entry>>,
    #[serde(default)]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vector,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    #[serde(default)]
    prompt_tokens: LenientCount,
    #[serde(default)]
    total_tokens: LenientCount,
}

impl Tokens {
    fn usage(self) -> Option<Usage> {
        let (prompt_tokens, total_tokens) = (self.prompt_tokens.0, self.total_tokens.0);
        prompt_tokens.or(total_tokens).is_some().then(|| Usage {
            prompt_tokens,
            total_tokens,
            ..Usage::default()
        })
    }
}

impl Decoder<Embed> for EmbedDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<EmbedItem>) -> Result<(), LlmError> {
        self.0.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<EmbedItem>) -> Result<(), LlmError> {
        let reply: Reply = self.0.read(close, "list of embeddings")?;
        if !reply.error.is_null() {
            return Err(self.0.reported_error());
        }
        let Some(entries) = reply.data else {
            let message = "the reply is JSON, but not a list of embeddings: it has no `data`";
            return Err(self.0.malformed(message.into()));
        };
        let numbered = entries.into_iter().enumerate();
        items.extend(numbered.map(|(position, entry)| EmbedItem::Vector {
            // Without indexes, the vectors are in order.
            index: entry.index.unwrap_or(position),
            vector: entry.embedding.0,
        }));
        let usage = reply.usage.and_then(Tokens::usage);
        items.extend(usage.map(|usage| EmbedItem::Usage(Box::new(usage))));
        Ok(())
    }
}
