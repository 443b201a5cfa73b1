//! [`EmbeddingProvider`]: a wire for embeddings on a transport, as a provider that layers can wrap.

use std::sync::Arc;

use agcore_chat::{ChatRequest, Usage};
use futures_util::{StreamExt, stream};

use super::call;
use crate::{
    credential::SecretGuard,
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream},
    transport::Transport,
    wire_provider::call_wire_until,
};
use agcore_wire::{
    EncodeOptions, LlmError, LlmErrorKind, ReplyDelta, Wire,
    operation::{Embed, EmbedItem},
};

/// A provider of embeddings: a wire on a transport. A [`ModelEmbedder`](super::ModelEmbedder) makes its calls.
///
/// It is an [`LlmProvider`], so that every layer works for embeddings, too. A call contains the texts as user messages, and
/// the response contains the vectors in its member `embeddings`. Cheap to clone.
#[derive(Debug, Clone)]
#[must_use]
pub struct EmbeddingProvider(Arc<Inner>);

#[derive(Debug, Clone)]
struct Inner {
    info: ProviderInfo,
    wire: Arc<dyn Wire<Embed>>,
    transport: Arc<dyn Transport>,
    guard: SecretGuard,
}

impl EmbeddingProvider {
    /// Creates a provider that uses this wire over this transport. The model of `info` is used for calls that name none.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<Embed>>, transport: Arc<dyn Transport>) -> Self {
        Self(Arc::new(Inner {
            info,
            wire,
            transport,
            guard: SecretGuard::new(),
        }))
    }

    /// Sets the guard that removes the keys of the transport from errors.
    pub fn with_guard(mut self, guard: SecretGuard) -> Self {
        Arc::make_mut(&mut self.0).guard = guard;
        self
    }
}

impl LlmProvider for EmbeddingProvider {
    fn open(&self, call: Call) -> ReplyStream {
        let inner = Arc::clone(&self.0);
        let items = async move {
            let request = Arc::clone(&call.request);
            match inner.embed(call).await {
                Ok((vectors, usage)) => {
                    let usage = usage.map(|usage| ReplyDelta::Usage(Box::new(usage)));
                    let deltas = [call::delta(&vectors)].into_iter().chain(usage);
                    deltas.map(ReplyItem::Delta).chain([ReplyItem::End(Ok(()))]).collect()
                }
                Err(error) => vec![ReplyItem::End(Err(inner.add_context(error, &request)))],
            }
        };
        ReplyStream::new(stream::once(items).map(stream::iter).flatten())
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}

impl Inner {
    async fn embed(&self, call: Call) -> Result<(Vec<Vec<f32>>, Option<Usage>), LlmError> {
        let request = call::request(&call.request)?;
        let options = EncodeOptions::new(&self.info.model);
        let (token, deadline) = (call.token, call.deadline);
        let items = call_wire_until(&self.wire, &self.transport, &request, &options, token, deadline).await?;
        let mut usage = None;
        let vectors = in_order(items, request.inputs.len(), &mut usage)?;
        Ok((vectors, usage))
    }

    fn add_context(&self, error: LlmError, request: &ChatRequest) -> LlmError {
        let model = if request.model.is_empty() {
            &*self.info.model
        } else {
            request.model.as_str()
        };
        let error = error.with_provider(&*self.info.name);
        let error = if model.is_empty() {
            error
        } else {
            error.with_model(model)
        };
        self.guard.redact(error)
    }
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
    vectors.ok_or_else(|| call::wrong_number(found, count))
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
            assert_eq!(error.kind(), LlmErrorKind::Malformed);
            assert!(error.message().contains(expected), "{error}");
        };
        check(vec![vector(0, &[1.0])], "1 vector for 2 texts");
        check(vec![vector(0, &[1.0]), vector(0, &[1.0])], "two vectors for text 0");
        check(vec![vector(2, &[1.0])], "text 2, but there are 2 texts");
    }
}
