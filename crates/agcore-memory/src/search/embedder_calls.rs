//! [`EmbedderCalls`]: calls of an embedder, with what they have used.

use std::sync::Arc;

use agcore_chat::{AnsweredBy, Clock, Embedder, Embeddings, ModelCall};

use crate::error::{MemoryError, MemoryErrorKind};

/// Calls an embedder, and notes the calls for a bill.
pub(super) struct EmbedderCalls {
    /// Without it, no calls are noted.
    clock: Option<Arc<dyn Clock>>,
    noted: Vec<ModelCall>,
}

impl EmbedderCalls {
    /// Notes calls with the times of a clock.
    pub(super) fn noted(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock: Some(clock),
            noted: Vec::new(),
        }
    }

    /// Notes no calls.
    pub(super) fn ignored() -> Self {
        Self {
            clock: None,
            noted: Vec::new(),
        }
    }

    /// Returns the calls so far.
    pub(super) fn into_calls(self) -> Vec<ModelCall> {
        self.noted
    }

    /// Returns one vector for each text.
    pub(super) async fn embed(
        &mut self,
        embedder: &dyn Embedder,
        texts: &[&str],
    ) -> Result<Vec<Vec<f32>>, MemoryError> {
        let sent = self.clock.as_ref().map(|clock| (clock.now(), clock.monotonic()));
        let embeddings = embedder.embed(texts).await.map_err(|fault| {
            MemoryError::with_source(
                MemoryErrorKind::Retrieval,
                "the embedder failed; search without vectors, or try again",
                fault,
            )
        })?;
        if let (Some(clock), Some((at, start))) = (&self.clock, sent) {
            let mut call = call_of(&embeddings, at);
            let latency = clock.monotonic().saturating_sub(start).as_millis();
            call.latency_ms = u64::try_from(latency).unwrap_or(u64::MAX);
            self.noted.push(call);
        }
        if embeddings.vectors.len() == texts.len() {
            return Ok(embeddings.vectors);
        }
        Err(MemoryError::new(
            MemoryErrorKind::Retrieval,
            format!(
                "the embedder returned {} vectors for {} texts",
                embeddings.vectors.len(),
                texts.len()
            ),
        ))
    }
}

fn call_of(embeddings: &Embeddings, sent_at: std::time::SystemTime) -> ModelCall {
    let route = embeddings.answered_by.clone();
    let mut call = ModelCall::new(route.unwrap_or_else(|| AnsweredBy::new("", "")), sent_at);
    call.usage.clone_from(&embeddings.usage);
    // It is part of no reply.
    call.is_reply = false;
    call
}
