//! Embeddings: `POST /embed`.

use agcore_chat::Usage;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::settings::Settings;
use crate::{
    decode::{document::Document, lenient::LenientCount},
    encode::{check_extra_body, extra_headers, invalid_request, model},
    error::LlmError,
    operation::{Embed, EmbedItem, EmbedRequest},
    wire::{Close, Decoder, EncodeOptions, ReplyHead, WireRequest},
};

/// Encodes a request.
pub(super) fn encode(
    settings: &Settings,
    request: &EmbedRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    check_extra_body(request.extra_body_clash())?;
    let body = Body {
        settings,
        request,
        model: model(&request.model, options)?,
    };
    let bytes = serde_json::to_vec(&body).map_err(|error| invalid_request(error.to_string()))?;
    let mut wire = WireRequest::post("/embed", bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(invalid_request)?;
    Ok(wire)
}

struct Body<'a> {
    settings: &'a Settings,
    request: &'a EmbedRequest,
    model: &'a str,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let request = self.request;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("model", self.model)?;
        map.serialize_entry("input", &request.inputs)?;
        if let Some(dimensions) = request.dimensions {
            map.serialize_entry("dimensions", &dimensions)?;
        }
        self.settings.write(Map::new(), &request.extra_body, &mut map)?;
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
    embeddings: Option<Vec<Vec<f32>>>,
    #[serde(default)]
    prompt_eval_count: LenientCount,
    #[serde(default)]
    error: Value,
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
        let Some(vectors) = reply.embeddings else {
            let message = "the reply is JSON, but not a list of embeddings: it has no `embeddings`";
            return Err(self.0.malformed(message.into()));
        };
        let numbered = vectors.into_iter().enumerate();
        items.extend(numbered.map(|(index, vector)| EmbedItem::Vector { index, vector }));
        items.extend(reply.prompt_eval_count.0.map(|tokens| {
            EmbedItem::Usage(Box::new(Usage {
                prompt_tokens: Some(tokens),
                ..Usage::default()
            }))
        }));
        Ok(())
    }
}
