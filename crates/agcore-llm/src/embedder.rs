//! [`ModelEmbedder`]: an embedding model on a server.

mod call;
mod provider;

pub use provider::EmbeddingProvider;

use std::sync::Arc;

use agcore_chat::{AnsweredBy, ChatResponse, Embedder, Embeddings, Extra, Fault, Usage};
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use serde_json::Value;

use crate::{
    provider::{Call, LlmProvider, ProviderInfo},
    transport::Transport,
};
use agcore_wire::{Fold, LlmError, LlmErrorKind, Wire, operation::Embed};

/// An embedding model on a server: a wire on a transport, with any layers around it.
///
/// Many texts are sent in several requests, some of them [at the same time](Self::with_max_concurrent). Each request passes
/// through the [layers](Self::with_layer) on its own, so a retry repeats only the one that failed.
/// Cheap to clone.
///
/// ```
/// # #[cfg(all(feature = "_http", feature = "openai-chat"))] {
/// use agcore_llm::{LlmErrorKind, LlmProviderExt, ProviderConfig, layer::retry::RetryPolicy};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let config = ProviderConfig::parse("openai:text-embedding-3-small")?.with_api_key("sk-example");
/// let embedder = config.build_embedder()?
///     .with_layer(|provider| provider.with_retry(RetryPolicy::new()))
///     .with_dimensions(256)
///     .with_max_inputs(50);
/// assert_eq!(&*embedder.info().model, "text-embedding-3-small");
///
/// // Invalid input is refused before anything is sent.
/// let error = embedder.embed_texts(&["a text", ""]).await.unwrap_err();
/// assert_eq!(error.kind(), LlmErrorKind::InvalidRequest);
/// # Ok::<(), agcore_llm::LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct ModelEmbedder {
    provider: Arc<dyn LlmProvider>,
    max_inputs: usize,
    max_concurrent: usize,
    dimensions: Option<u32>,
    extra_body: Extra,
}

impl ModelEmbedder {
    /// The default number of texts in one request.
    pub const DEFAULT_MAX_INPUTS: usize = 100;

    /// The default number of requests at the same time.
    pub const DEFAULT_MAX_CONCURRENT: usize = 4;

    /// Creates an embedder that uses this wire over this transport. The model is the one of `info`.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<Embed>>, transport: Arc<dyn Transport>) -> Self {
        Self::from_provider(EmbeddingProvider::new(info, wire, transport))
    }

    /// Creates an embedder that makes the calls of this provider: an [`EmbeddingProvider`] with layers around it, or a
    /// `ReplayProvider` that answers from a cassette.
    pub fn from_provider(provider: impl LlmProvider + 'static) -> Self {
        Self {
            provider: Arc::new(provider),
            max_inputs: Self::DEFAULT_MAX_INPUTS,
            max_concurrent: Self::DEFAULT_MAX_CONCURRENT,
            dimensions: None,
            extra_body: Extra::new(),
        }
    }

    /// Wraps a layer around each request: retries, rate limits, a trace, a recording, or a custom layer, for example
    /// for budgets.
    ///
    /// A [`KeyPool`](crate::layer::key_pool::KeyPool) of [`EmbeddingProvider`]s uses several keys; pass it to
    /// [`from_provider`](Self::from_provider). A fallback is only useful between servers of the same model, because the
    /// vectors of different models cannot be compared.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::{AtomicU64, Ordering}};
    /// use agcore_llm::{
    ///     Call, LlmError, LlmErrorKind, LlmProvider, LlmProviderExt, ModelEmbedder, ReplyDelta, ReplyItem, ReplyStream,
    ///     layer::retry::RetryPolicy,
    /// };
    /// use futures_util::StreamExt;
    ///
    /// /// Refuses requests once this many tokens were spent.
    /// #[derive(Debug)]
    /// struct Budget<P> {
    ///     inner: P,
    ///     left: Arc<AtomicU64>,
    /// }
    ///
    /// impl<P: LlmProvider> LlmProvider for Budget<P> {
    ///     fn open(&self, call: Call) -> ReplyStream {
    ///         if self.left.load(Ordering::Relaxed) == 0 {
    ///             return ReplyStream::failed(LlmError::new(LlmErrorKind::QuotaExhausted, "the budget is spent"));
    ///         }
    ///         let left = Arc::clone(&self.left);
    ///         ReplyStream::new(self.inner.open(call).inspect(move |item| {
    ///             if let ReplyItem::Delta(ReplyDelta::Usage(usage)) = item {
    ///                 let spent = usage.total().unwrap_or(0);
    ///                 let _ = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| {
    ///                     Some(left.saturating_sub(spent))
    ///                 });
    ///             }
    ///         }))
    ///     }
    /// }
    ///
    /// # fn with_budget(embedder: ModelEmbedder) -> ModelEmbedder {
    /// let left = Arc::new(AtomicU64::new(100_000));
    /// embedder
    ///     .with_layer(|inner| Budget { inner, left })
    ///     .with_layer(|inner| inner.with_retry(RetryPolicy::new()))
    /// # }
    /// ```
    pub fn with_layer<P: LlmProvider + 'static>(mut self, layer: impl FnOnce(Arc<dyn LlmProvider>) -> P) -> Self {
        self.provider = Arc::new(layer(self.provider));
        self
    }

    /// Sets the largest number of texts in one request, at least one.
    pub fn with_max_inputs(mut self, max: usize) -> Self {
        self.max_inputs = max.max(1);
        self
    }

    /// Sets the largest number of requests at the same time, at least one. The default is 4.
    pub fn with_max_concurrent(mut self, max: usize) -> Self {
        self.max_concurrent = max.max(1);
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
        self.provider.info()
    }

    /// Returns one vector for each text, in the same order; all vectors have the same length.
    ///
    /// Does the same as [`Embedder::embed`], but returns the full error. Cancel safe: dropping the future closes the
    /// connections.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if there are no texts or one of them is empty, `Malformed` if the server returns a wrong
    /// number of vectors, vectors of different lengths or numbers that are not finite, and any error of the server or the
    /// transport. If other requests have succeeded, their tokens are the usage of the error's
    /// [partial reply](LlmError::partial).
    pub async fn embed_texts(&self, texts: &[&str]) -> Result<Embeddings, LlmError> {
        check_texts(texts)?;
        let mut slots: Vec<Vec<Vec<f32>>> = vec![Vec::new(); texts.len().div_ceil(self.max_inputs)];
        let (mut usage, mut answered_by) = (None, None);
        let batches = texts.chunks(self.max_inputs);
        let calls: Vec<Call> = batches
            .map(|batch| call::new(batch, self.dimensions, &self.extra_body))
            .collect();
        let requests = calls.into_iter().enumerate();
        let requests = requests.map(|(at, call)| async move { (at, self.request(call).await) });
        let mut replies = stream::iter(requests).buffer_unordered(self.max_concurrent);
        while let Some((at, reply)) = replies.next().await {
            let (vectors, spent, who) = reply.map_err(|error| with_usage(error, usage.take()))?;
            answered_by = who.or(answered_by);
            if let Some(slot) = slots.get_mut(at) {
                *slot = vectors;
            }
            if let Some(spent) = spent {
                usage.get_or_insert_with(Usage::default).add(&spent);
            }
        }
        let vectors: Vec<Vec<f32>> = slots.into_iter().flatten().collect();
        match check_vectors(&vectors) {
            Ok(()) => {
                let embeddings = Embeddings::new(vectors).with_usage(usage);
                Ok(embeddings.with_answered_by(answered_by.unwrap_or_else(|| self.route())))
            }
            Err(error) => Err(with_usage(self.add_context(error), usage)),
        }
    }

    /// Returns the provider and the model of replies that do not name them.
    fn route(&self) -> AnsweredBy {
        let info = self.info();
        AnsweredBy::new(&*info.name, &*info.model)
    }

    /// Makes the call for one batch.
    async fn request(&self, call: Call) -> Result<Reply, LlmError> {
        let count = call.request.messages.len();
        let response = self.response(call).await?;
        let vectors = call::vectors(&response).map_err(|error| self.add_context(error))?;
        if vectors.len() == count {
            return Ok((vectors, response.usage, response.answered_by));
        }
        Err(self.add_context(call::wrong_number(vectors.len(), count)))
    }

    async fn response(&self, call: Call) -> Result<ChatResponse, LlmError> {
        let mut items = self.provider.open(call);
        let mut fold = Fold::new();
        while let Some(item) = items.next().await {
            if let Some(end) = item.fold_into(&mut fold) {
                return end;
            }
        }
        Err(fold.fail(LlmError::truncated()))
    }

    fn add_context(&self, error: LlmError) -> LlmError {
        let info = self.info();
        let error = error.with_provider(&*info.name);
        if info.model.is_empty() {
            error
        } else {
            error.with_model(&*info.model)
        }
    }
}

/// The vectors of a batch, its usage, and who answered.
type Reply = (Vec<Vec<f32>>, Option<Usage>, Option<AnsweredBy>);

/// Adds the tokens of the requests that have succeeded to the error of one that failed.
fn with_usage(error: LlmError, usage: Option<Usage>) -> LlmError {
    let paid = usage.map(|usage| ChatResponse {
        usage: Some(usage),
        ..ChatResponse::default()
    });
    error.with_partial(paid)
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
