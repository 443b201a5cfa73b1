//! The contract of a transport: how the bytes of requests and replies are moved.

pub mod address;
pub(crate) mod refused;

#[cfg(feature = "_http")]
pub mod http;

use std::{fmt, pin::Pin};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;

use agcore_wire::{LlmError, ReplyHead, WireRequest};

/// Sends encoded requests and returns the bytes of their replies.
///
/// `HttpTransport` in the module `http` is the usual one. Implement the trait to use another HTTP client, or to answer
/// in the same process:
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
///
/// /// Answers every request with the same body.
/// #[derive(Debug)]
/// struct FixedReply(&'static str);
///
/// #[async_trait::async_trait]
/// impl Transport for FixedReply {
///     async fn send(&self, request: WireRequest, _stream: bool) -> Result<TransportReply, LlmError> {
///         assert_eq!(request.path, "/chat/completions");
///         let body = bytes::Bytes::from_static(self.0.as_bytes());
///         let body = Box::pin(futures_util::stream::iter([Ok(body)]));
///         Ok(TransportReply { head: ReplyHead::default(), body })
///     }
/// }
///
/// let transport = FixedReply(
///     r#"{"choices": [{"message": {"role": "assistant", "content": "Paris."}, "finish_reason": "stop"}]}"#,
/// );
/// let wire = Arc::new(OpenAiChat::new(dialect::openai()));
/// let provider = WireProvider::new(ProviderInfo::new("fixed", "fixed-1"), wire, Arc::new(transport));
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let response = provider.chat(ChatRequest::new([Message::user("Capital of France?")])).await?;
/// assert_eq!(response.text(), "Paris.");
/// # Ok::<(), LlmError>(())
/// # }).unwrap();
/// # }
/// ```
#[async_trait]
pub trait Transport: Send + Sync + fmt::Debug {
    /// Sends a request and waits for the head of its reply.
    ///
    /// `stream` is whether a streamed reply was requested; limits on the whole exchange do not apply to these.
    ///
    /// Cancel safe: dropping the future closes the connection.
    ///
    /// # Errors
    /// `Connect`, `Timeout`, or `Authentication` if no credential can be obtained. A reply with an error status is
    /// `Ok`: the wire interprets the status.
    async fn send(&self, request: WireRequest, stream: bool) -> Result<TransportReply, LlmError>;
}

/// A reply whose body may still be arriving.
pub struct TransportReply {
    /// Status and headers.
    pub head: ReplyHead,
    /// The body, chunk by chunk. An error is the last item. Dropping the stream closes the connection.
    pub body: Pin<Box<dyn Stream<Item = Result<Bytes, LlmError>> + Send>>,
}

impl fmt::Debug for TransportReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportReply")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}
