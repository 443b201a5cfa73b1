//! Embeddings: `POST /models/{model}:batchEmbedContents`.

use agcore_chat::Usage;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Value, json};

use super::path;
use crate::{
    decode::{document::Document, lenient::LenientCount},
    encode::{check_extra_body, extra_headers, invalid_request, model},
    error::LlmError,
    operation::{Embed, EmbedItem, EmbedRequest},
    wire::{Close, Decoder, EncodeOptions, ReplyHead, WireRequest},
};

/// Encodes a request.
pub(super) fn encode(request: &EmbedRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
    check_extra_body(request.extra_body_clash())?;
    let model = model(&request.model, options)?;
    let name = path::resource(model)?;
    let texts = request.inputs.iter();
    let body = Body {
        requests: texts
            .map(|text| OneText {
                request,
                model: &name,
                text,
            })
            .collect(),
    };
    let bytes = serde_json::to_vec(&body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post(path::of_model(model, "batchEmbedContents")?, bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

#[derive(Serialize)]
struct Body<'a> {
    requests: Vec<OneText<'a>>,
}

/// The request for one text. Each one repeats the model and the further members, such as `taskType`.
struct OneText<'a> {
    request: &'a EmbedRequest,
    model: &'a str,
    text: &'a str,
}

impl Serialize for OneText<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("content", &json!({"parts": [{"text": self.text}]}))?;
        if let Some(dimensions) = self.request.dimensions {
            map.serialize_entry("outputDimensionality", &dimensions)?;
        }
        let mut extra = self.request.extra_body.iter();
        extra.try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.end()
    }
}

/// Decodes a reply, which is a single JSON document.
#[derive(Debug)]
pub(super) struct EmbedDecoder(Document);

impl EmbedDecoder {
    pub(super) fn new(head: &ReplyHead) -> Self {
        Self(Document::new(head))
    }
}

#[derive(Debug, Deserialize)]
struct Reply {
    #[serde(default)]
    embeddings: Option<Vec<Embedding>>,
    #[serde(default, rename = "usageMetadata")]
    usage: Option<Tokens>,
    #[serde(default)]
    error: Value,
}

#[derive(Debug, Deserialize)]
struct Embedding {
    #[serde(default)]
    values: Vec<f32>,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    #[serde(default, rename = "promptTokenCount")]
    prompt: LenientCount,
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
        let Some(embeddings) = reply.embeddings else {
            let message = "the reply is JSON, but not a list of embeddings: it has no `embeddings`";
            return Err(self.0.malformed(message.into()));
        };
        let numbered = embeddings.into_iter().enumerate();
        items.extend(numbered.map(|(index, embedding)| EmbedItem::Vector {
            index,
            vector: embedding.values,
        }));
        let tokens = reply.usage.and_then(|usage| usage.prompt.0);
        items.extend(tokens.map(|tokens| {
            EmbedItem::Usage(Box::new(Usage {
                prompt_tokens: Some(tokens),
                ..Usage::default()
            }))
        }));
        Ok(())
    }
}
