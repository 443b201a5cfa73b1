//! [`RerankWire`]: the relevance of documents.
//!
//! ```
//! use agcore_wire::{EncodeOptions, ResponseShape, Wire, operation::{Rerank, RerankRequest}, rerank::RerankWire};
//!
//! let wire = RerankWire::new(ResponseShape::openai())?;
//! let request = RerankRequest::new("pets", ["a cat", "a car"]);
//! let encoded = Wire::<Rerank>::encode(&wire, &request, &EncodeOptions::new("rerank-v3.5"))?;
//! assert_eq!(encoded.path, "/rerank");
//! # Ok::<(), agcore_wire::LlmError>(())
//! ```

use serde_json::{Map, Value, json};

use crate::{
    decode::{
        document::Document,
        shape::{CheckedShape, Form, PointerSpec, ResponseShape, read_usage},
    },
    encode::{body::JsonBody, check_extra_body, invalid_request, model},
    error::LlmError,
    operation::{Rerank, RerankItem, RerankRequest},
    wire::{Close, Decoder, EncodeOptions, ReplyHead, Wire, WireRequest},
};

/// The pointers of replies. OpenAI has no such models; the servers of Cohere, Jina, SiliconFlow and vLLM agree:
/// <https://docs.cohere.com/reference/rerank>, <https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html>. For
/// DashScope see <https://help.aliyun.com/zh/model-studio/text-rerank-api>.
const POINTERS: &[PointerSpec] = &[
    PointerSpec {
        name: "results",
        openai: "/results/*",
        dashscope: "/output/results/*",
    },
    PointerSpec {
        name: "index",
        openai: "/index",
        dashscope: "/index",
    },
    PointerSpec {
        name: "score",
        openai: "/relevance_score",
        dashscope: "/relevance_score",
    },
];

/// A wire for models that rate the relevance of documents.
///
/// Its [pointers](ResponseShape::with_pointer) are `results` (the entries), `index` and `score` (both within an entry).
#[derive(Debug, Clone)]
pub struct RerankWire(CheckedShape);

impl RerankWire {
    /// Creates a wire with this shape.
    ///
    /// # Errors
    /// Returns `InvalidRequest` for an invalid path or pointer, and for a pointer with another name.
    pub fn new(shape: ResponseShape) -> Result<Self, LlmError> {
        CheckedShape::new(shape, POINTERS).map(Self)
    }
}

impl Wire<Rerank> for RerankWire {
    fn encode(&self, request: &RerankRequest, options: &EncodeOptions<'_>) -> Result<WireRequest, LlmError> {
        check_extra_body(request.extra_body_clash())?;
        if request.documents.is_empty() {
            return Err(invalid_request("there are no documents to rank; pass at least one"));
        }
        let mut body = JsonBody::new(model(&request.model, options)?);
        match self.0.form() {
            Form::OpenAi => {
                body.set("query", request.query.as_str());
                body.set("documents", request.documents.as_slice());
                body.set_some("top_n", request.top_n);
            }
            Form::DashScope => {
                body.set("input", json!({"query": request.query, "documents": request.documents}));
                let top_n = request.top_n.map(|top_n| ("top_n".to_owned(), Value::from(top_n)));
                body.set_some("parameters", top_n.map(|top_n| Map::from_iter([top_n])));
            }
        }
        let path = self.0.path("/rerank", "/services/rerank/text-rerank/text-rerank");
        body.post(path, &request.extra_body, &request.extra_headers)
    }

    fn decoder(&self, head: &ReplyHead) -> Box<dyn Decoder<Rerank>> {
        Box::new(RerankDecoder {
            shape: self.0.clone(),
            document: Document::new(head),
        })
    }
}

/// The decoder of the reply, which is not streamed.
#[derive(Debug)]
struct RerankDecoder {
    shape: CheckedShape,
    document: Document,
}

impl Decoder<Rerank> for RerankDecoder {
    fn feed(&mut self, bytes: &[u8], _: &mut Vec<RerankItem>) -> Result<(), LlmError> {
        self.document.feed(bytes)
    }

    fn finish(&mut self, close: Close, items: &mut Vec<RerankItem>) -> Result<(), LlmError> {
        let reply = self.document.read_reply(close, "list of scores")?;
        let results = self.shape.all(&reply, "results");
        if results.is_empty() {
            let pointer = self.shape.pointer("results");
            let message = format!("the reply is JSON, but not a list of scores: `{pointer}` selects nothing");
            return Err(self.document.lacking(&reply, message));
        }
        for result in results {
            let index = self.shape.first(result, "index").and_then(Value::as_u64);
            let index = index.and_then(|index| usize::try_from(index).ok());
            let score = self.shape.first(result, "score").and_then(Value::as_f64);
            let (Some(index), Some(score)) = (index, score) else {
                let (index, score) = (self.shape.pointer("index"), self.shape.pointer("score"));
                let message = format!("a result has no index at `{index}` or no score at `{score}`");
                return Err(self.document.malformed(message));
            };
            items.push(RerankItem::Score { index, score });
        }
        items.extend(read_usage(&reply).map(|usage| RerankItem::Usage(Box::new(usage))));
        Ok(())
    }
}
