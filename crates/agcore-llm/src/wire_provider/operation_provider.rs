//! [`OperationProvider`]: a wire for any operation on a transport, as a provider that layers can wrap.

use std::{fmt, sync::Arc};

use agcore_chat::ChatRequest;
use futures_util::StreamExt;

use super::{endpoint::Endpoint, exchange::Step, interrupt::Interrupt};
use crate::{
    credential::SecretGuard,
    provider::{Call, CallOperation, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream},
    transport::Transport,
};
use agcore_wire::{LlmError, Operation, ReplyDelta, ReplyStart, Wire};

/// An operation whose requests and replies can travel through layers, in the form of chats.
///
/// Layers such as retries, key pools and recordings wrap an [`LlmProvider`], whatever its calls are for. So that they work for
/// other operations, too, a request is carried by a [`ChatRequest`] and each item of a reply by a [`ReplyDelta`].
pub trait CarriedOperation: Operation {
    /// The kind of its calls.
    const CALL: CallOperation;

    /// Returns the request that a chat request carries.
    ///
    /// # Errors
    /// Returns `InvalidRequest` if it carries none of this kind.
    fn unpack(request: &ChatRequest) -> Result<Self::Request, LlmError>;

    /// Returns the delta that carries an item of a reply.
    fn pack(item: Self::Item) -> ReplyDelta;
}

/// A provider for an operation other than chat: a wire on a transport. A typed handle, such as `ModelReranker`, makes its
/// calls.
///
/// It is an [`LlmProvider`], so that every layer works around it. Cheap to clone.
#[must_use]
pub struct OperationProvider<O: CarriedOperation>(Arc<Endpoint<O>>);

impl<O: CarriedOperation> OperationProvider<O> {
    /// Creates a provider that uses this wire over this transport. The model of `info` is used for calls that name none.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<O>>, transport: Arc<dyn Transport>) -> Self {
        Self(Arc::new(Endpoint::new(info, wire, transport)))
    }

    /// Sets the guard that removes the keys of the transport from errors.
    pub fn with_guard(self, guard: SecretGuard) -> Self {
        Self(Arc::new(self.0.with_guard(guard)))
    }
}

impl<O: CarriedOperation> Clone for OperationProvider<O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<O: CarriedOperation> fmt::Debug for OperationProvider<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationProvider")
            .field("info", &self.0.info)
            .field("wire", &self.0.wire)
            .field("transport", &self.0.transport)
            .finish_non_exhaustive()
    }
}

impl<O: CarriedOperation> LlmProvider for OperationProvider<O> {
    fn open(&self, call: Call) -> ReplyStream {
        let endpoint = Arc::clone(&self.0);
        let carrier = Arc::clone(&call.request);
        let request = match O::unpack(&call.request) {
            Ok(request) => Arc::new(request),
            Err(error) => return ReplyStream::failed(endpoint.add_context(error, &carrier)),
        };
        let interrupt = Interrupt::new(call.token, call.deadline);
        let exchange = self.0.exchange(request, call.stream, interrupt);
        ReplyStream::new(exchange.map(move |step| match step {
            Step::Head(metadata) => ReplyItem::Delta(ReplyDelta::Start(Box::new(ReplyStart {
                metadata: Some(metadata),
                ..ReplyStart::default()
            }))),
            Step::Item(item) => ReplyItem::Delta(O::pack(item)),
            Step::End(end) => ReplyItem::End(end.map_err(|error| endpoint.add_context(error, &carrier))),
        }))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}
