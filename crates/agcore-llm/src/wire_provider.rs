//! [`WireProvider`]: a wire on a transport, as a provider; and [`call`] for everything that is not chat.

mod draining;
mod exchange;
mod interrupt;
mod reading;

use std::sync::Arc;

use agcore_chat::{ChatRequest, Fault, FaultKind};
use futures_util::StreamExt;

use crate::{
    credential::SecretGuard,
    delta::ReplyDelta,
    error::LlmError,
    provider::{Call, LlmProvider, ProviderInfo},
    reply::{Notice, ReplyItem, ReplyStream},
    transport::Transport,
    wire::{Chat, EncodeOptions, Operation, Wire},
};

use self::{
    exchange::{Exchange, Step},
    interrupt::Interrupt,
};

/// A provider made of a wire and a transport.
///
/// Everything an API needs is in the wire, everything about travelling in the transport; here they meet, and errors learn
/// the provider's name, the model, the status and the server's id of the request. Cheap to clone.
#[derive(Debug, Clone)]
pub struct WireProvider(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    info: ProviderInfo,
    wire: Arc<dyn Wire<Chat>>,
    transport: Arc<dyn Transport>,
    guard: SecretGuard,
}

impl WireProvider {
    /// Speaks this wire over this transport. The info's model is asked when a request names none.
    pub fn new(info: ProviderInfo, wire: Arc<dyn Wire<Chat>>, transport: Arc<dyn Transport>) -> Self {
        Self::with_guard(info, wire, transport, SecretGuard::new())
    }

    /// The same, with what takes the transport's keys out of errors.
    pub fn with_guard(
        info: ProviderInfo,
        wire: Arc<dyn Wire<Chat>>,
        transport: Arc<dyn Transport>,
        guard: SecretGuard,
    ) -> Self {
        Self(Arc::new(Inner {
            info,
            wire,
            transport,
            guard,
        }))
    }
}

impl LlmProvider for WireProvider {
    fn open(&self, call: Call) -> ReplyStream {
        let inner = Arc::clone(&self.0);
        let request = Arc::clone(&call.request);
        let exchange = self.0.exchange(call);
        ReplyStream::new(exchange.map(move |step| match step {
            Step::Item(ReplyDelta::Restart) => ReplyItem::Notice(restarted()),
            Step::Item(delta) => ReplyItem::Delta(delta),
            Step::End(end) => ReplyItem::End(end.map_err(|error| inner.named(error, &request))),
        }))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}

/// Why a reply began anew behind our back.
fn restarted() -> Notice {
    let message = "the server began another reply in the middle of this one; what came before it is void";
    Notice::Restarted {
        fault: Fault::new(FaultKind::Server, message).with_retryable(true),
        usage: None,
    }
}

impl Inner {
    fn exchange(self: &Arc<Self>, call: Call) -> Exchange<Chat> {
        let interrupt = Interrupt::new(call.token, call.deadline);
        let (encoder, request, stream) = (Arc::clone(self), call.request, call.stream);
        let encode = move || {
            let options = EncodeOptions::new(&encoder.info.model).with_stream(stream);
            encoder.wire.encode(&request, &options)
        };
        let wire = Arc::clone(&self.wire);
        let decoder = move |head: &_| wire.decoder(head);
        Exchange::new(encode, decoder, Arc::clone(&self.transport), stream, interrupt)
    }

    fn named(&self, error: LlmError, request: &ChatRequest) -> LlmError {
        let model = if request.model.is_empty() {
            &*self.info.model
        } else {
            request.model.as_str()
        };
        let error = if error.provider().is_none() {
            error.with_provider(&*self.info.name)
        } else {
            error
        };
        let error = if error.model().is_none() && !model.is_empty() {
            error.with_model(model)
        } else {
            error
        };
        self.guard.clean(error)
    }
}

/// Makes a call of any operation and collects what comes back. Cancel safe: dropping the future closes the connection.
///
/// # Errors
/// What the wire or the transport say, with the status and the server's id of the request; the caller knows the rest.
pub async fn call<O: Operation>(
    wire: &Arc<dyn Wire<O>>,
    transport: &Arc<dyn Transport>,
    request: &O::Request,
    options: &EncodeOptions<'_>,
) -> Result<Vec<O::Item>, LlmError> {
    let encoded = wire.encode(request, options);
    let wire = Arc::clone(wire);
    let mut exchange = Exchange::new(
        move || encoded,
        move |head| wire.decoder(head),
        Arc::clone(transport),
        options.stream,
        Interrupt::never(),
    );
    let mut items = Vec::new();
    while let Some(step) = exchange.next().await {
        match step {
            Step::Item(item) => items.push(item),
            Step::End(end) => return end.map(|()| items),
        }
    }
    Ok(items)
}
