//! [`Client`]: sends requests with reqwest, or directly with hyper, and keeps connections alive.
//!
//! Everything else of the transport is the same for both.

#[cfg(feature = "http")]
mod hyper_client;
#[cfg(feature = "http-reqwest")]
mod reqwest_client;
mod settings;

pub(super) use settings::ClientSettings;

use std::{
    future::Future,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::Request;

use agcore_wire::{LlmError, ReplyHead};

use super::{base_url::BaseUrl, failure::Failure, http_client::HttpClient};

/// A client with its connection pool.
pub(super) enum Client {
    #[cfg(feature = "http-reqwest")]
    Reqwest(reqwest_client::ReqwestClient),
    #[cfg(feature = "http")]
    Hyper(Box<hyper_client::HyperClient>),
}

impl Client {
    /// Creates a client. Does not connect yet.
    pub(super) fn new(settings: ClientSettings<'_>) -> Result<Self, LlmError> {
        match settings.options.client {
            #[cfg(feature = "http-reqwest")]
            HttpClient::Reqwest => reqwest_client::ReqwestClient::new(settings).map(Self::Reqwest),
            #[cfg(feature = "http")]
            HttpClient::Hyper => hyper_client::HyperClient::new(settings).map(|client| Self::Hyper(Box::new(client))),
        }
    }

    /// Starts to send a request to the server of this base URL. The future resolves to the head of the reply.
    ///
    /// Not an `async fn`, because its future would contain the request until the end.
    #[cfg(all(feature = "http", feature = "http-reqwest"))]
    pub(super) fn send(
        &self,
        request: Request<Bytes>,
        base: &BaseUrl,
    ) -> Result<impl Future<Output = Result<Response, Failure>> + use<>, Failure> {
        use futures_util::future::Either;

        Ok(match self {
            Self::Reqwest(client) => Either::Left(respond(client.send(request, base)?, Chunks::Reqwest)),
            Self::Hyper(client) => Either::Right(respond(client.send(request)?, Chunks::Hyper)),
        })
    }

    /// Starts to send a request to the server of this base URL. The future resolves to the head of the reply.
    #[cfg(not(feature = "http"))]
    pub(super) fn send(
        &self,
        request: Request<Bytes>,
        base: &BaseUrl,
    ) -> Result<impl Future<Output = Result<Response, Failure>> + use<>, Failure> {
        let Self::Reqwest(client) = self;
        Ok(respond(client.send(request, base)?, Chunks::Reqwest))
    }

    /// Starts to send a request to the server of this base URL. The future resolves to the head of the reply.
    #[cfg(not(feature = "http-reqwest"))]
    pub(super) fn send(
        &self,
        request: Request<Bytes>,
        _: &BaseUrl,
    ) -> Result<impl Future<Output = Result<Response, Failure>> + use<>, Failure> {
        let Self::Hyper(client) = self;
        Ok(respond(client.send(request)?, Chunks::Hyper))
    }
}

/// Wraps the chunks that a client returns.
fn respond<C>(
    sending: impl Future<Output = Result<(ReplyHead, C), Failure>>,
    wrap: fn(C) -> Chunks,
) -> impl Future<Output = Result<Response, Failure>> {
    sending.map(move |received| {
        let (head, chunks) = received?;
        let chunks = wrap(chunks);
        Ok(Response { head, chunks })
    })
}

/// A reply whose body may still be arriving.
pub(super) struct Response {
    pub(super) head: ReplyHead,
    pub(super) chunks: Chunks,
}

/// The chunks of a body. Dropping it before its end closes the connection.
pub(super) enum Chunks {
    #[cfg(feature = "http-reqwest")]
    Reqwest(reqwest_client::ReqwestChunks),
    #[cfg(feature = "http")]
    Hyper(hyper_client::HyperChunks),
}

impl Chunks {
    /// Returns the next chunk, or `None` at the end of the body.
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        match self {
            #[cfg(feature = "http-reqwest")]
            Self::Reqwest(chunks) => chunks.poll_next(cx),
            #[cfg(feature = "http")]
            Self::Hyper(chunks) => chunks.poll_next(cx),
        }
    }
}
