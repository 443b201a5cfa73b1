//! [`Endpoint`]: a wire on a transport, shared by the providers for chats and for other operations.

use std::sync::Arc;

use agcore_chat::ChatRequest;
use agcore_wire::{EncodeOptions, LlmError, Operation, Wire};

use super::{
    context,
    exchange::{Exchange, open},
    interrupt::Interrupt,
};
use crate::{credential::SecretGuard, provider::ProviderInfo, transport::Transport};

/// A wire on a transport, with the names that errors get.
#[derive(Debug)]
pub(super) struct Endpoint<O: Operation> {
    pub(super) info: ProviderInfo,
    pub(super) wire: Arc<dyn Wire<O>>,
    pub(super) transport: Arc<dyn Transport>,
    /// Removes the keys of the transport from errors.
    pub(super) guard: SecretGuard,
}

impl<O: Operation> Endpoint<O> {
    pub(super) fn new(info: ProviderInfo, wire: Arc<dyn Wire<O>>, transport: Arc<dyn Transport>) -> Self {
        Self {
            info,
            wire,
            transport,
            guard: SecretGuard::new(),
        }
    }

    /// Returns the same endpoint with another guard.
    pub(super) fn with_guard(&self, guard: SecretGuard) -> Self {
        Self {
            info: self.info.clone(),
            wire: Arc::clone(&self.wire),
            transport: Arc::clone(&self.transport),
            guard,
        }
    }

    /// Returns the exchange for a request. Nothing is sent before it is polled.
    pub(super) fn exchange(
        self: &Arc<Self>,
        request: Arc<O::Request>,
        stream: bool,
        interrupt: Interrupt,
    ) -> Exchange<O> {
        let endpoint = Arc::clone(self);
        let opening = async move {
            let Self {
                info, wire, transport, ..
            } = &*endpoint;
            let encoded = wire.encode(&request, &EncodeOptions::new(&info.model).with_stream(stream))?;
            open(&**transport, encoded, stream, |head| wire.decoder_for(head, &request)).await
        };
        Exchange::new(opening, interrupt)
    }

    /// Adds the names of the provider and the model to an error, and removes keys from it.
    pub(super) fn add_context(&self, error: LlmError, request: &ChatRequest) -> LlmError {
        context::add(error, &self.info, request, &self.guard)
    }
}
