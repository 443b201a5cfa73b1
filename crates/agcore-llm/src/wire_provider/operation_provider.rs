//! [`OperationProvider`]: a wire for any operation on a transport, as a provider that layers can wrap.

use std::{fmt, sync::Arc};

use agcore_chat::ChatRequest;
use futures_util::StreamExt;

use super::{
    context,
    exchange::{Exchange, Step, open},
    interrupt::Interrupt,
};
use crate::{
    credential::SecretGuard,
    provider::{Call, CallOperation, LlmProvider, ProviderInfo},
    reply::{ReplyItem, ReplyStream},
    transport::Transport,
};
use agcore_wire::{EncodeOptions, LlmError, Operation, ReplyDelta, ReplyStart, Wire};

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
pub struct OperationProvider<O: CarriedOperation>(Arc<Inner<O>>);

struct Inner<O: CarriedOperation> {
    info: ProviderInfo,
    wire: Arc<dyn Wire<O>>,
    transport: Arc<dyn Transport>,
    guard: SecretGuard,
}

impl<O: CarriedOperation> OperationProvider<O> {
    /// Creates a provider that uses this wire over this transport. The model of `info` is used for calls that name none.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<O>>, transport: Arc<dyn Transport>) -> Self {
        Self(Arc::new(Inner {
            info,
            wire,
            transport,
            guard: SecretGuard::new(),
        }))
    }

    /// Sets the guard that removes the keys of the transport from errors.
    pub fn with_guard(self, guard: SecretGuard) -> Self {
        let inner = &*self.0;
        Self(Arc::new(Inner {
            info: inner.info.clone(),
            wire: Arc::clone(&inner.wire),
            transport: Arc::clone(&inner.transport),
            guard,
        }))
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
        let inner = Arc::clone(&self.0);
        let carrier = Arc::clone(&call.request);
        let request = match O::unpack(&call.request) {
            Ok(request) => Arc::new(request),
            Err(error) => return ReplyStream::failed(context::add(error, &inner.info, &carrier, &inner.guard)),
        };
        let exchange = self.0.exchange(request, call);
        ReplyStream::new(exchange.map(move |step| match step {
            Step::Head(metadata) => ReplyItem::Delta(ReplyDelta::Start(Box::new(ReplyStart {
                metadata: Some(metadata),
                ..ReplyStart::default()
            }))),
            Step::Item(item) => ReplyItem::Delta(O::pack(item)),
            Step::End(end) => {
                ReplyItem::End(end.map_err(|error| context::add(error, &inner.info, &carrier, &inner.guard)))
            }
        }))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}

impl<O: CarriedOperation> Inner<O> {
    fn exchange(self: &Arc<Self>, request: Arc<O::Request>, call: Call) -> Exchange<O> {
        let (inner, stream) = (Arc::clone(self), call.stream);
        let opening = async move {
            let Inner {
                info, wire, transport, ..
            } = &*inner;
            let encoded = wire.encode(&request, &EncodeOptions::new(&info.model).with_stream(stream))?;
            open(&**transport, encoded, stream, |head| wire.decoder_for(head, &request)).await
        };
        Exchange::new(opening, Interrupt::new(call.token, call.deadline))
    }
}
