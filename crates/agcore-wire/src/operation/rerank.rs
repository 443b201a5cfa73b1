//! [`Rerank`]: the relevance of documents for a query.

use agcore_chat::{Extra, Usage};

use super::setters::request_setters;
use crate::wire::Operation;

/// The operation that requests how relevant documents are for a query.
#[derive(Debug, Clone, Copy)]
pub struct Rerank;

impl Operation for Rerank {
    type Request = RerankRequest;
    type Item = RerankItem;
}

/// A request for the relevance of documents.
///
/// ```
/// use agcore_wire::operation::RerankRequest;
///
/// let request = RerankRequest::new("pets", ["a cat", "a car"]).with_top_n(1);
/// assert_eq!((request.documents.len(), request.top_n), (2, Some(1)));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct RerankRequest {
    /// The model; if empty, the provider's default.
    pub model: String,
    /// The query.
    pub query: String,
    /// The documents.
    pub documents: Vec<String>,
    /// The number of documents to return, the most relevant ones; by default all.
    pub top_n: Option<u32>,
    /// Members that are merged into the top level of the body. Members that the request has a field for are refused.
    pub extra_body: Extra,
    /// Additional HTTP headers.
    pub extra_headers: Vec<(String, String)>,
}

request_setters!(RerankRequest);

impl RerankRequest {
    /// Creates a request for the relevance of documents, by the provider's default model.
    pub fn new<T: Into<String>>(query: impl Into<String>, documents: impl IntoIterator<Item = T>) -> Self {
        Self {
            query: query.into(),
            documents: documents.into_iter().map(Into::into).collect(),
            ..Self::default()
        }
    }

    /// Sets the number of documents to return.
    #[must_use]
    pub fn with_top_n(mut self, top_n: u32) -> Self {
        self.top_n = Some(top_n);
        self
    }

    /// Returns the first member of `extra_body` that the request has a field for, and that is therefore refused.
    pub fn extra_body_clash(&self) -> Option<&str> {
        const FIELDS: &[&str] = &["model", "query", "documents", "top_n", "input"];
        FIELDS.iter().copied().find(|name| self.extra_body.get(name).is_some())
    }
}

/// An item of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum RerankItem {
    /// The relevance of one document.
    Score {
        /// The index of the document in the request.
        index: usize,
        /// The relevance: the higher, the more relevant. Its range depends on the model.
        score: f64,
    },
    /// The token usage.
    Usage(Box<Usage>),
}
