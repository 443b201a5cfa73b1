//! The contract of a transport: how bytes travel.

#[cfg(feature = "http")]
pub mod http;

use std::{fmt, pin::Pin};

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;

use agcore_wire::{LlmError, ReplyHead, WireRequest};

/// Sends requests and brings replies: HTTP, a script, a cassette.
#[async_trait]
pub trait Transport: Send + Sync + fmt::Debug {
    /// Sends a request and waits for the head of its reply. Cancel safe: dropping the future closes the connection.
    ///
    /// `stream` says whether the body will come as it is made: then no limit on the whole exchange applies.
    ///
    /// # Errors
    /// `Connect`, `Timeout`, `Authentication` when no credential can be had. A status is no error here: wires read it.
    async fn send(&self, request: WireRequest, stream: bool) -> Result<TransportReply, LlmError>;
}

/// A reply whose body is still on its way.
pub struct TransportReply {
    /// Status and headers.
    pub head: ReplyHead,
    /// The body, piece by piece. An error is the last item; dropping it closes the connection.
    pub body: Pin<Box<dyn Stream<Item = Result<Bytes, LlmError>> + Send>>,
}

impl fmt::Debug for TransportReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportReply")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}
