//! Vectors of texts: `POST /embeddings`.

mod vector;

use agcore_chat::Usage;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::Value;

use self::vector::Vector;
use super::OpenAiChat;
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::{
        Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest,
        document::Document,
        embed::{Embed, EmbedItem, EmbedRequest},
        extra_headers,
        lenient::LooseCount,
    },
};

/// How many texts most servers take at once; OpenAI's number.
const MOST_INPUTS: usize = 2048;

/// Vendors that take fewer, from their references.
const FEWER_INPUTS: &[(&str, usize)] = &[("gemini", 100), ("qwen", 10), ("zhipu", 64)];

/// Vendors whose servers have no such endpoint.
const WITHOUT: &[&str] = &["deepseek", "groq", "moonshot"];

impl OpenAiChat {
    /// How many texts the vendor takes in one request for their vectors.
    pub fn max_embed_inputs(&self) -> usize {
        let name = &*self.dialect().name;
        let fewer = FEWER_INPUTS.iter().find(|(vendor, _)| *vendor == name);
        fewer.map_or(MOST_INPUTS, |(_, most)| *most)
    }
}

impl Wire<Embed> for OpenAiChat {
    fn encode(&self, request: &EmbedRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        let refused = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
        let vendor = &*self.dialect().name;
        if WITHOUT.contains(&vendor) {
            return Err(refused(format!(
                "{vendor} makes no vectors of texts: ask another vendor"
            )));
        }
        if let Some(name) = request.extra_body_clash() {
            let why = format!("extra_body must not hold `{name}`: set the request's own field instead");
            return Err(refused(why));
        }
        let model = if request.model.is_empty() {
            options.model
        } else {
            &request.model
        };
        if model.is_empty() {
            let why = "no model is named: set one on the request or on the provider";
            return Err(refused(why.into()));
        }
        let bytes = serde_json::to_vec(&Body { model, request }).map_err(|error| refused(error.to_string()))?;
        let mut wire = WireRequest::post(self.path("/embeddings"), bytes);
        extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(refused)?;
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

/// Reads the reply, which comes whole.
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
    prompt_tokens: LooseCount,
    #[serde(default)]
    total_tokens: LooseCount,
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
        let reply: Reply = self.0.read(close, "list of vectors")?;
        if !reply.error.is_null() {
            return Err(self.0.reported());
        }
        let Some(entries) = reply.data else {
            let message = "the reply is JSON, but holds no vectors";
            return Err(self.0.malformed(message.into()));
        };
        let numbered = entries.into_iter().enumerate();
        items.extend(numbered.map(|(place, entry)| EmbedItem::Vector {
            // A server that gives no places keeps the order.
            index: entry.index.unwrap_or(place),
            vector: entry.embedding.0,
        }));
        let usage = reply.usage.and_then(Tokens::usage);
        items.extend(usage.map(|usage| EmbedItem::Usage(Box::new(usage))));
        Ok(())
    }
}
