//! [`Embed`]: embeddings of texts.

use agcore_chat::{Extra, Usage};

use super::setters::request_setters;
use crate::wire::Operation;

/// The operation that requests embeddings: a vector for each text.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use agcore_wire::{Close, EncodeOptions, ReplyHead, Wire, dialect, openai_chat::OpenAiChat};
/// use agcore_wire::operation::{Embed, EmbedItem, EmbedRequest};
///
/// let wire = OpenAiChat::new(dialect::openai());
/// let request = EmbedRequest::new(["a cat"]);
/// let encoded = Wire::<Embed>::encode(&wire, &request, &EncodeOptions::new("text-embedding-3-small"))?;
/// assert_eq!(encoded.path, "/embeddings");
///
/// let mut decoder = Wire::<Embed>::decoder(&wire, &ReplyHead::default());
/// let mut items = Vec::new();
/// decoder.feed(br#"{"data": [{"index": 0, "embedding": [0.5, -1]}]}"#, &mut items)?;
/// decoder.finish(Close::Clean, &mut items)?;
/// assert_eq!(items, [EmbedItem::Vector { index: 0, vector: vec![0.5, -1.0] }]);
/// # }
/// # Ok::<(), agcore_wire::LlmError>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Embed;

impl Operation for Embed {
    type Request = EmbedRequest;
    type Item = EmbedItem;
}

/// A request for the embeddings of texts.
///
/// ```
/// use agcore_wire::operation::EmbedRequest;
///
/// let request = EmbedRequest::new(["a cat", "a dog"]).with_dimensions(256);
/// assert_eq!(request.inputs.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EmbedRequest {
    /// The model; if empty, the provider's default.
    pub model: String,
    /// The texts.
    pub inputs: Vec<String>,
    /// The length of the vectors, for models that support shorter ones.
    pub dimensions: Option<u32>,
    /// Members that are merged into the top level of the body. Members that the request has a field for are refused.
    pub extra_body: Extra,
    /// Additional HTTP headers.
    pub extra_headers: Vec<(String, String)>,
}

request_setters!(EmbedRequest);

impl EmbedRequest {
    /// Creates a request for the embeddings of these texts by the provider's default model.
    pub fn new<T: Into<String>>(inputs: impl IntoIterator<Item = T>) -> Self {
        Self {
            inputs: inputs.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the length of the vectors.
    #[must_use]
    pub fn with_dimensions(mut self, dimensions: u32) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    /// Returns the first member of `extra_body` that the request has a field for, and that is therefore refused.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "input", "dimensions"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

/// An item of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum EmbedItem {
    /// The vector of one text.
    Vector {
        /// The index of the text in the inputs. Servers may send the vectors in any order.
        index: usize,
        /// The vector.
        vector: Vec<f32>,
    },
    /// The token usage.
    Usage(Box<Usage>),
}
