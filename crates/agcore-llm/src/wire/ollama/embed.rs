//! Vectors of texts: `POST /embed`.

use agcore_chat::Usage;
use serde::{Deserialize, Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::{encode::model, settings::Settings};
use crate::{
    error::{LlmError, LlmErrorKind},
    wire::{
        Close, Decoder, EncodeOptions, ReplyHead, WireRequest,
        document::Document,
        embed::{Embed, EmbedItem, EmbedRequest},
        extra_headers,
        lenient::LooseCount,
    },
};

/// Writes a request.
pub(super) fn encode(
    settings: &Settings,
    request: &EmbedRequest,
    options: &EncodeOptions<'_>,
) -> Result<WireRequest, LlmError> {
    let refused = |message: String| LlmError::new(LlmErrorKind::InvalidRequest, message);
    if let Some(name) = request.extra_body_clash() {
        let why = format!("extra_body must not hold `{name}`: set the request's own field instead");
        return Err(refused(why));
    }
    let body = Body {
        settings,
        request,
        model: model(&request.model, options).map_err(refused)?,
    };
    let bytes = serde_json::to_vec(&body).map_err(|error| refused(error.to_string()))?;
    let mut wire = WireRequest::post("/embed", bytes);
    extra_headers::add(&mut wire.headers, &request.extra_headers).map_err(refused)?;
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

/// Reads the reply, which comes whole.
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
    prompt_eval_count: LooseCount,
    #[serde(default)]
    error: Value,
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
        let Some(vectors) = reply.embeddings else {
            let message = "the reply is JSON, but holds no vectors";
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
