//! [`Embed`]: texts to vectors.

use agcore_chat::{Extra, Usage};
use serde_json::Value;

use super::Operation;

/// Turns texts into vectors.
#[derive(Debug, Clone, Copy)]
pub struct Embed;

impl Operation for Embed {
    type Request = EmbedRequest;
    type Item = EmbedItem;
}

/// Texts that shall become vectors.
///
/// ```
/// use agcore_llm::wire::embed::EmbedRequest;
///
/// let request = EmbedRequest::new(["a cat", "a dog"]).with_dimensions(256);
/// assert_eq!(request.inputs.len(), 2);
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct EmbedRequest {
    /// The model; empty means the provider's configured one.
    pub model: String,
    /// The texts.
    pub inputs: Vec<String>,
    /// How long the vectors shall be, where the model can make them shorter.
    pub dimensions: Option<u32>,
    /// Members merged into the top level of the body. One that has a field of its own is an error.
    pub extra_body: Extra,
    /// HTTP headers for this request.
    pub extra_headers: Vec<(String, String)>,
}

impl EmbedRequest {
    /// A request for these texts' vectors, to the provider's configured model.
    pub fn new<T: Into<String>>(inputs: impl IntoIterator<Item = T>) -> Self {
        Self {
            inputs: inputs.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the model.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }

    /// Sets how long the vectors shall be.
    pub fn with_dimensions(mut self, dimensions: u32) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    /// Adds a member to the top level of the body.
    pub fn with_extra_body(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra_body.insert(name, value);
        self
    }

    /// Adds an HTTP header for this request.
    pub fn with_extra_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.extra_headers.push((name.into(), value.into()));
        self
    }

    /// The first member of `extra_body` that has a field of its own, and so cannot be written.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "input", "dimensions"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

/// What comes back.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EmbedItem {
    /// The vector of one text.
    Vector {
        /// The text's place among the inputs. Servers may tell them in any order.
        index: usize,
        /// Its vector.
        vector: Vec<f32>,
    },
    /// Tokens used.
    Usage(Box<Usage>),
}
