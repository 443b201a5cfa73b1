//! [`ModelEmbedder`]: an embedding model on a server.

use std::sync::Arc;

use agcore_chat::{Embedder, Embeddings, Extra, Fault, Usage};
use async_trait::async_trait;
use serde_json::Value;

use crate::{credential::SecretGuard, provider::ProviderInfo, transport::Transport, wire_provider};
use agcore_wire::{
    EncodeOptions, LlmError, LlmErrorKind, Wire,
    operation::{Embed, EmbedItem, EmbedRequest},
};

/// An embedding model on a server: a wire on a transport.
///
/// Many texts are sent in several requests, one after the other. Failed requests are not retried. Cheap to clone.
///
/// ```
/// # #[cfg(all(feature = "http", feature = "openai-chat"))] {
/// use agcore_llm::{LlmErrorKind, ProviderConfig};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let config = ProviderConfig::parse("openai:text-embedding-3-small")?.with_api_key("sk-example");
/// let embedder = config.build_embedder()?.with_dimensions(256).with_max_inputs(50);
/// assert_eq!(&*embedder.info().model, "text-embedding-3-small");
///
/// // Invalid input is refused before anything is sent.
/// let error = embedder.embed_texts(&["a text", ""]).await.unwrap_err();
/// assert_eq!(*error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelEmbedder {
    info: ProviderInfo,
    wire: Arc<dyn Wire<Embed>>,
    transport: Arc<dyn Transport>,
    guard: SecretGuard,
    max_inputs: usize,
    dimensions: Option<u32>,
    extra_body: Extra,
}

impl ModelEmbedder {
    /// The default number of texts in one request.
    pub const DEFAULT_MAX_INPUTS: usize = 100;

    /// Creates an embedder that uses this wire over this transport. The model is the one of `info`.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<Embed>>, transport: Arc<dyn Transport>) -> Self {
        Self {
            info,
            wire,
            transport,
            guard: SecretGuard::new(),
            max_inputs: Self::DEFAULT_MAX_INPUTS,
            dimensions: None,
            extra_body: Extra::new(),
        }
    }

    /// Sets the guard that removes the keys of the transport from errors.
    pub fn with_guard(mut self, guard: SecretGuard) -> Self {
        self.guard = guard;
        self
    }

    /// Sets the largest number of texts in one request, at least one.
    pub fn with_max_inputs(mut self, max: usize) -> Self {
        self.max_inputs = max.max(1);
        self
    }

    /// Sets the length of the vectors, for models that support shorter ones.
    pub fn with_dimensions(mut self, dimensions: u32) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    /// Adds a member to the top level of every request body.
    pub fn with_extra_body(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra_body.insert(name, value);
        self
    }

    /// Returns the name of the provider and the model.
    pub fn info(&self) -> &ProviderInfo {
        &self.info
    }

    /// Returns one vector for each text, in the same order; all vectors have the same length.
    ///
    /// Does the same as [`Embedder::embed`], but returns the full error. Cancel safe: dropping the future closes the
    /// connection.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if there are no texts or one of them is empty, `Malformed` if the server returns a wrong
    /// number of vectors, vectors of different lengths or numbers that are not finite, and any error of the server or the
    /// transport.
    pub async fn embed_texts(&self, texts: &[&str]) -> Result<Embeddings, LlmError> {
        self.embed_all(texts).await.map_err(|error| self.add_context(error))
    }

    async fn embed_all(&self, texts: &[&str]) -> Result<Embeddings, LlmError> {
        check_texts(texts)?;
        let (mut vectors, mut usage) = (Vec::with_capacity(texts.len()), None);
        for batch in texts.chunks(self.max_inputs) {
            let items = self.request(batch).await?;
            vectors.extend(in_order(items, batch.len(), &mut usage)?);
        }
        check_vectors(&vectors)?;
        Ok(Embeddings::new(vectors).with_usage(usage))
    }

    async fn request(&self, batch: &[&str]) -> Result<Vec<EmbedItem>, LlmError> {
        let mut request = EmbedRequest::new(batch.iter().copied());
        request.dimensions = self.dimensions;
        request.extra_body = self.extra_body.clone();
        let options = EncodeOptions::new(&self.info.model);
        wire_provider::call_wire(&self.wire, &self.transport, &request, &options).await
    }

    fn add_context(&self, error: LlmError) -> LlmError {
        let error = error.with_provider(&*self.info.name);
        let error = if self.info.model.is_empty() {
            error
        } else {
            error.with_model(&*self.info.model)
        };
        self.guard.redact(error)
    }
}

#[async_trait]
impl Embedder for ModelEmbedder {
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault> {
        self.embed_texts(texts).await.map_err(|error| error.fault())
    }
}

fn check_texts(texts: &[&str]) -> Result<(), LlmError> {
    let message = if texts.is_empty() {
        "there are no texts to embed; pass at least one".to_owned()
    } else if let Some(at) = texts.iter().position(|text| text.is_empty()) {
        format!("text {at} is empty, and servers refuse to embed empty text; leave it out")
    } else {
        return Ok(());
    };
    Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
}

/// Returns the vectors in the order of their texts, and adds up the token usage.
fn in_order(items: Vec<EmbedItem>, count: usize, usage: &mut Option<Usage>) -> Result<Vec<Vec<f32>>, LlmError> {
    let mut slots: Vec<Option<Vec<f32>>> = vec![None; count];
    let mut found = 0_usize;
    for item in items {
        match item {
            EmbedItem::Vector { index, vector } => {
                found += 1;
                match slots.get_mut(index) {
                    Some(slot @ None) => *slot = Some(vector),
                    Some(Some(_)) => {
                        return Err(malformed(format!("the server returned two vectors for text {index}")));
                    }
                    None => {
                        let message =
                            format!("the server returned a vector for text {index}, but there are {count} texts");
                        return Err(malformed(message));
                    }
                }
            }
            EmbedItem::Usage(more) => usage.get_or_insert_default().add(&more),
        }
    }
    let vectors: Option<Vec<_>> = slots.into_iter().collect();
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    vectors.ok_or_else(|| {
        malformed(format!(
            "the server returned {found} vector{} for {count} text{}",
            plural(found),
            plural(count)
        ))
    })
}

fn check_vectors(vectors: &[Vec<f32>]) -> Result<(), LlmError> {
    let length = vectors.first().map_or(0, Vec::len);
    for (at, vector) in vectors.iter().enumerate() {
        let problem = if vector.is_empty() {
            format!("the server returned an empty vector for text {at}")
        } else if vector.len() != length {
            let other = vector.len();
            format!("the server returned vectors of different lengths: {length} and {other}")
        } else if !vector.iter().all(|number| number.is_finite()) {
            format!("the vector of text {at} contains a number that is not finite")
        } else {
            continue;
        };
        return Err(malformed(problem));
    }
    Ok(())
}

fn malformed(message: String) -> LlmError {
    LlmError::new(LlmErrorKind::Malformed, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(index: usize, vector: &[f32]) -> EmbedItem {
        EmbedItem::Vector {
            index,
            vector: vector.to_vec(),
        }
    }

    #[test]
    fn puts_vectors_in_the_order_of_their_texts() {
        let items = vec![vector(1, &[2.0]), vector(0, &[1.0])];
        assert_eq!(in_order(items, 2, &mut None).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn adds_up_tokens_and_keeps_unknown_counts_unknown() {
        let tokens = |count| {
            let usage = Usage {
                prompt_tokens: Some(count),
                ..Usage::default()
            };
            vec![EmbedItem::Usage(Box::new(usage)), vector(0, &[1.0])]
        };
        let mut usage = None;
        in_order(vec![vector(0, &[1.0])], 1, &mut usage).unwrap();
        assert_eq!(usage, None);
        in_order(tokens(3), 1, &mut usage).unwrap();
        in_order(tokens(4), 1, &mut usage).unwrap();
        let usage = usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(7), None));
    }

    #[test]
    fn rejects_a_wrong_number_of_vectors() {
        let check = |items, expected: &str| {
            let error = in_order(items, 2, &mut None).unwrap_err();
            assert_eq!(error.kind(), &LlmErrorKind::Malformed);
            assert!(error.message().contains(expected), "{error}");
        };
        check(vec![vector(0, &[1.0])], "1 vector for 2 texts");
        check(vec![vector(0, &[1.0]), vector(0, &[1.0])], "two vectors for text 0");
        check(vec![vector(2, &[1.0])], "text 2, but there are 2 texts");
    }

    #[test]
    fn rejects_vectors_that_are_not_comparable() {
        let check = |vectors: &[&[f32]], expected: &str| {
            let vectors: Vec<_> = vectors.iter().map(|vector| vector.to_vec()).collect();
            let error = check_vectors(&vectors).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
        };
        check(&[&[1.0], &[1.0, 2.0]], "different lengths: 1 and 2");
        check(&[&[]], "empty vector for text 0");
        check(&[&[1.0], &[f32::NAN]], "text 1 contains");
    }
}
