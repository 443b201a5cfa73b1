//! [`ModelEmbedder`]: an embedding model of a server, as an [`Embedder`].

use std::sync::Arc;

use agcore_chat::{Embedder, Embeddings, Extra, Fault, Usage};
use async_trait::async_trait;
use serde_json::Value;

use crate::{
    credential::SecretGuard,
    error::{LlmError, LlmErrorKind},
    provider::ProviderInfo,
    transport::Transport,
    wire::{
        EncodeOptions, Wire,
        embed::{Embed, EmbedItem, EmbedRequest},
    },
    wire_provider,
};

/// An embedding model of a server: a wire on a transport.
///
/// Many texts go in several requests, one after the other. Nothing is retried here. Cheap to clone.
#[derive(Debug, Clone)]
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
    /// How many texts go in one request unless another number is set.
    pub const DEFAULT_MAX_INPUTS: usize = 100;

    /// Asks the info's model by this wire over this transport.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<Embed>>, transport: Arc<dyn Transport>) -> Self {
        Self::with_guard(info, wire, transport, SecretGuard::new())
    }

    /// The same, with what takes the transport's keys out of errors.
    pub fn with_guard(
        info: ProviderInfo,
        wire: Arc<dyn Wire<Embed>>,
        transport: Arc<dyn Transport>,
        guard: SecretGuard,
    ) -> Self {
        Self {
            info,
            wire,
            transport,
            guard,
            max_inputs: Self::DEFAULT_MAX_INPUTS,
            dimensions: None,
            extra_body: Extra::new(),
        }
    }

    /// Sets how many texts go in one request, at least one.
    pub fn with_max_inputs(mut self, most: usize) -> Self {
        self.max_inputs = most.max(1);
        self
    }

    /// Sets how long the vectors shall be, where the model can make them shorter.
    pub fn with_dimensions(mut self, dimensions: u32) -> Self {
        self.dimensions = Some(dimensions);
        self
    }

    /// Adds a member to the top level of every body.
    pub fn with_extra_body(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra_body.insert(name, value);
        self
    }

    /// What the provider is called, and the model that is asked.
    pub fn info(&self) -> &ProviderInfo {
        &self.info
    }

    /// One vector for each text, in order, all of one length: what [`Embedder::embed`] does, with the full error. Cancel
    /// safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// `InvalidRequest` when there are no texts or one of them is empty, `Malformed` when the server gives another number
    /// of vectors, vectors of several lengths or with numbers that are none, and what the server or the road says.
    pub async fn embed_texts(&self, texts: &[&str]) -> Result<Embeddings, LlmError> {
        self.embed_all(texts).await.map_err(|error| self.named(error))
    }

    async fn embed_all(&self, texts: &[&str]) -> Result<Embeddings, LlmError> {
        check_texts(texts)?;
        let (mut vectors, mut usage) = (Vec::with_capacity(texts.len()), None);
        for batch in texts.chunks(self.max_inputs) {
            let items = self.ask(batch).await?;
            vectors.extend(placed(items, batch.len(), &mut usage)?);
        }
        check_lengths(&vectors)?;
        Ok(Embeddings::new(vectors).with_usage(usage))
    }

    async fn ask(&self, batch: &[&str]) -> Result<Vec<EmbedItem>, LlmError> {
        let mut request = EmbedRequest::new(batch.iter().copied());
        request.dimensions = self.dimensions;
        request.extra_body = self.extra_body.clone();
        let options = EncodeOptions::new(&self.info.model);
        wire_provider::call(&self.wire, &self.transport, &request, &options).await
    }

    fn named(&self, error: LlmError) -> LlmError {
        let error = error.with_provider(&*self.info.name);
        let error = if self.info.model.is_empty() {
            error
        } else {
            error.with_model(&*self.info.model)
        };
        self.guard.clean(error)
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
        "there are no texts to make vectors of: give at least one".to_owned()
    } else if let Some(at) = texts.iter().position(|text| text.is_empty()) {
        format!("text {at} is empty, and servers make no vector of nothing: leave it out")
    } else {
        return Ok(());
    };
    Err(LlmError::new(LlmErrorKind::InvalidRequest, message))
}

/// The vectors in the order of their texts; tokens are added up.
fn placed(items: Vec<EmbedItem>, count: usize, usage: &mut Option<Usage>) -> Result<Vec<Vec<f32>>, LlmError> {
    let mut places: Vec<Option<Vec<f32>>> = vec![None; count];
    let mut found = 0_usize;
    for item in items {
        match item {
            EmbedItem::Vector { index, vector } => {
                found += 1;
                match places.get_mut(index) {
                    Some(place @ None) => *place = Some(vector),
                    Some(Some(_)) => return Err(malformed(format!("the server gave two vectors for text {index}"))),
                    None => {
                        return Err(malformed(format!(
                            "the server gave a vector for text {index} of {count}"
                        )));
                    }
                }
            }
            EmbedItem::Usage(more) => usage.get_or_insert_default().add(&more),
        }
    }
    let vectors: Option<Vec<_>> = places.into_iter().collect();
    vectors.ok_or_else(|| malformed(format!("the server gave {found} vectors for {count} texts")))
}

fn check_lengths(vectors: &[Vec<f32>]) -> Result<(), LlmError> {
    let length = vectors.first().map_or(0, Vec::len);
    for (at, vector) in vectors.iter().enumerate() {
        if vector.is_empty() {
            return Err(malformed(format!("the server gave an empty vector for text {at}")));
        }
        if vector.len() != length {
            let lengths = format!("{length} and {}", vector.len());
            return Err(malformed(format!(
                "the server gave vectors of different lengths, {lengths}"
            )));
        }
        if !vector.iter().all(|number| number.is_finite()) {
            return Err(malformed(format!(
                "the vector of text {at} holds something that is no number"
            )));
        }
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
    fn vectors_stand_where_their_texts_do() {
        let items = vec![vector(1, &[2.0]), vector(0, &[1.0])];
        assert_eq!(placed(items, 2, &mut None).unwrap(), [[1.0], [2.0]]);
    }

    #[test]
    fn tokens_are_added_up_and_unknown_ones_stay_so() {
        let tokens = |count| {
            let usage = Usage {
                prompt_tokens: Some(count),
                ..Usage::default()
            };
            vec![EmbedItem::Usage(Box::new(usage)), vector(0, &[1.0])]
        };
        let mut usage = None;
        placed(vec![vector(0, &[1.0])], 1, &mut usage).unwrap();
        assert_eq!(usage, None);
        placed(tokens(3), 1, &mut usage).unwrap();
        placed(tokens(4), 1, &mut usage).unwrap();
        let usage = usage.unwrap();
        assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(7), None));
    }

    #[test]
    fn a_wrong_number_of_vectors_is_told() {
        let check = |items, expected: &str| {
            let error = placed(items, 2, &mut None).unwrap_err();
            assert_eq!(error.kind(), &LlmErrorKind::Malformed);
            assert!(error.message().contains(expected), "{error}");
        };
        check(vec![vector(0, &[1.0])], "1 vectors for 2 texts");
        check(vec![vector(0, &[1.0]), vector(0, &[1.0])], "two vectors for text 0");
        check(vec![vector(2, &[1.0])], "text 2 of 2");
    }

    #[test]
    fn vectors_must_be_alike() {
        let check = |vectors: &[&[f32]], expected: &str| {
            let vectors: Vec<_> = vectors.iter().map(|vector| vector.to_vec()).collect();
            let error = check_lengths(&vectors).unwrap_err();
            assert!(error.message().contains(expected), "{error}");
        };
        check(&[&[1.0], &[1.0, 2.0]], "different lengths, 1 and 2");
        check(&[&[]], "empty vector for text 0");
        check(&[&[1.0], &[f32::NAN]], "text 1 holds");
    }
}
