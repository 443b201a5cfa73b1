//! [`Caller`]: the provider of a model that does not chat, and what all its calls have in common.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Actor, ChatRequest, ChatResponse};

use crate::{
    provider::{Call, LlmProvider, ProviderInfo},
    wire_provider::CarriedOperation,
};
use agcore_wire::{Fold, LlmError, LlmErrorKind};

/// A provider, and what all calls of a handle have in common.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    provider: Arc<dyn LlmProvider>,
    actor: Option<Arc<Actor>>,
    deadline: Option<Duration>,
}

impl Caller {
    pub(super) fn new(provider: impl LlmProvider + 'static) -> Self {
        Self {
            provider: Arc::new(provider),
            actor: None,
            deadline: None,
        }
    }

    pub(super) fn with_layer<P: LlmProvider + 'static>(self, layer: impl FnOnce(Arc<dyn LlmProvider>) -> P) -> Self {
        Self {
            provider: Arc::new(layer(self.provider)),
            ..self
        }
    }

    pub(super) fn with_actor(mut self, actor: Arc<Actor>) -> Self {
        self.actor = Some(actor);
        self
    }

    pub(super) fn with_deadline(mut self, deadline: Duration) -> Self {
        self.deadline = Some(deadline);
        self
    }

    pub(super) fn info(&self) -> &ProviderInfo {
        self.provider.info()
    }

    /// Returns a call for this operation with the request that carries it.
    pub(super) fn call<O: CarriedOperation>(&self, carrier: ChatRequest) -> Call {
        let mut call = Call::new(carrier);
        call.operation = O::CALL;
        call.actor.clone_from(&self.actor);
        call.deadline = self.deadline;
        call
    }

    /// Makes a call.
    #[cfg(feature = "media")]
    pub(super) fn open(&self, call: Call) -> crate::reply::ReplyStream {
        self.provider.open(call)
    }

    /// Makes a call and waits for the whole reply.
    pub(super) async fn respond(&self, call: Call) -> Result<ChatResponse, LlmError> {
        let mut items = self.provider.open(call);
        let mut fold = Fold::new();
        while let Some(item) = items.next().await {
            if let Some(end) = item.fold_into(&mut fold) {
                return end;
            }
        }
        Err(fold.fail(LlmError::truncated()))
    }

    /// Returns the error of a reply that is not what it should be.
    pub(super) fn malformed(&self, message: impl Into<String>) -> LlmError {
        let info = self.info();
        let error = LlmError::new(LlmErrorKind::Malformed, message.into()).with_provider(&*info.name);
        if info.model.is_empty() {
            error
        } else {
            error.with_model(&*info.model)
        }
    }
}
