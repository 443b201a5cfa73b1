//! [`WireProvider`]: a wire on a transport, as a provider; [`OperationProvider`] and [`call_wire`] for operations other than
//! chat.

mod chat_reply;
mod context;
mod draining;
mod endpoint;
mod exchange;
mod interrupt;
mod operation_provider;
mod reading;

pub use operation_provider::{CarriedOperation, OperationProvider};

use std::{sync::Arc, time::Duration};

use futures_util::StreamExt;
use tokio_util::sync::CancellationToken;

use crate::{
    credential::SecretGuard,
    provider::{Call, LlmProvider, ProviderInfo},
    reply::ReplyStream,
    transport::Transport,
};
use agcore_wire::{Chat, EncodeOptions, LlmError, Operation, Wire};

use self::{
    chat_reply::ChatReply,
    endpoint::Endpoint,
    exchange::{Exchange, Step, open},
    interrupt::Interrupt,
};

/// A provider that consists of a wire and a transport.
///
/// The wire knows the API, the transport moves the bytes. This type connects them, and adds the provider's name, the model,
/// the status and the server's request id to errors. The useful headers of a success, such as the request id and what is
/// left of the rate limits, are the [metadata](agcore_chat::ChatResponse::metadata) of the response. Cheap to clone.
///
/// ```
/// # #[cfg(feature = "openai-chat")] {
/// use std::sync::Arc;
/// use agcore_chat::{ChatRequest, Message};
/// use agcore_llm::{
///     LlmError, LlmProviderExt, ProviderInfo, WireProvider, dialect,
///     transport::{Transport, TransportReply},
///     wire::{ReplyHead, WireRequest, openai_chat::OpenAiChat},
/// };
/// use futures_util::{StreamExt, stream};
///
/// /// A transport to a server whose answer is always the same.
/// #[derive(Debug)]
/// struct Greeter;
///
/// #[async_trait::async_trait]
/// impl Transport for Greeter {
///     async fn send(&self, request: WireRequest, _stream: bool) -> Result<TransportReply, LlmError> {
///         assert_eq!(request.path, "/chat/completions");
///         let body = r#"{"choices": [{"message": {"content": "Hello!"}, "finish_reason": "stop"}]}"#;
///         Ok(TransportReply { head: ReplyHead::default(), body: stream::iter([Ok(body.into())]).boxed() })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let wire = Arc::new(OpenAiChat::new(dialect::openai()));
/// let provider = WireProvider::new(ProviderInfo::new("greeter", "hello-1"), wire, Arc::new(Greeter));
/// let response = provider.chat(ChatRequest::new([Message::user("Hi")])).await?;
/// assert_eq!(response.text(), "Hello!");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use]
pub struct WireProvider(Arc<Endpoint<Chat>>);

impl WireProvider {
    /// Creates a provider that uses this wire over this transport. The model of `info` is used for requests that name
    /// none. If its capabilities do not state which token limit is sent by default, that of the wire is used.
    pub fn new(mut info: ProviderInfo, wire: Arc<dyn Wire<Chat>>, transport: Arc<dyn Transport>) -> Self {
        let default = &mut info.capabilities.default_output_tokens;
        *default = default.or_else(|| wire.default_token_limit(&info.model));
        Self(Arc::new(Endpoint::new(info, wire, transport)))
    }

    /// Sets the guard that removes the keys of the transport from errors.
    pub fn with_guard(self, guard: SecretGuard) -> Self {
        Self(Arc::new(self.0.with_guard(guard)))
    }
}

impl LlmProvider for WireProvider {
    fn open(&self, call: Call) -> ReplyStream {
        let (endpoint, request) = (Arc::clone(&self.0), Arc::clone(&call.request));
        let interrupt = Interrupt::new(call.token, call.deadline);
        let exchange = self.0.exchange(call.request, call.stream, interrupt);
        let add_context = move |error| endpoint.add_context(error, &request);
        ReplyStream::new(ChatReply::new(exchange, add_context))
    }

    fn info(&self) -> &ProviderInfo {
        &self.0.info
    }
}

/// Performs an operation of any kind and collects the items of the reply.
///
/// Cancel safe: dropping the future closes the connection.
///
/// # Errors
/// Returns the errors of the wire and the transport, with the status and the server's request id. The caller adds the
/// names of the provider and the model.
pub async fn call_wire<O: Operation>(
    wire: &Arc<dyn Wire<O>>,
    transport: &Arc<dyn Transport>,
    request: &O::Request,
    options: &EncodeOptions<'_>,
) -> Result<Vec<O::Item>, LlmError> {
    call_wire_interruptibly(wire, transport, request, options, Interrupt::never()).await
}

/// Does the same as [`call_wire`] until the token is cancelled or the deadline has passed.
pub(crate) async fn call_wire_until<O: Operation>(
    wire: &Arc<dyn Wire<O>>,
    transport: &Arc<dyn Transport>,
    request: &O::Request,
    options: &EncodeOptions<'_>,
    token: CancellationToken,
    deadline: Option<Duration>,
) -> Result<Vec<O::Item>, LlmError> {
    call_wire_interruptibly(wire, transport, request, options, Interrupt::new(token, deadline)).await
}

async fn call_wire_interruptibly<O: Operation>(
    wire: &Arc<dyn Wire<O>>,
    transport: &Arc<dyn Transport>,
    request: &O::Request,
    options: &EncodeOptions<'_>,
    interrupt: Interrupt,
) -> Result<Vec<O::Item>, LlmError> {
    let (encoded, stream) = (wire.encode(request, options), options.stream);
    let (wire, transport) = (Arc::clone(wire), Arc::clone(transport));
    let opening = async move { open(&*transport, encoded?, stream, |head| wire.decoder(head)).await };
    let mut exchange = Exchange::new(opening, interrupt);
    let mut items = Vec::new();
    while let Some(step) = exchange.next().await {
        match step {
            Step::Head(_) => {}
            Step::Item(item) => items.push(item),
            Step::End(end) => return end.map(|()| items),
        }
    }
    Ok(items)
}
