//! [`HyperClient`]: the client on hyper and the connection pool of hyper-util.

mod connection;
mod connector;
mod opener;

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header::Entry};
use http_body_util::Full;
use hyper::body::{Body, Incoming};
use hyper_util::{
    client::legacy,
    rt::{TokioExecutor, TokioTimer},
};

use agcore_wire::{LlmError, ReplyHead};

use super::{
    super::failure::Failure,
    settings::{ClientSettings, POOL_IDLE_TIMEOUT},
};

use self::connector::Connector;

/// A client on hyper.
pub(in super::super) struct HyperClient {
    client: legacy::Client<Connector, Full<Bytes>>,
    /// The headers of every request that does not have them itself.
    headers: Vec<(HeaderName, HeaderValue)>,
}

impl HyperClient {
    pub(super) fn new(settings: ClientSettings<'_>) -> Result<Self, LlmError> {
        let (connector, route_headers) = Connector::new(&settings)?;
        let mut headers = settings.headers;
        headers.extend(route_headers);
        let client = legacy::Client::builder(TokioExecutor::new())
            .timer(TokioTimer::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .build(connector);
        Ok(Self {
            client,
            headers: pairs(&headers),
        })
    }

    pub(super) fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<impl Future<Output = Result<(ReplyHead, HyperChunks), Failure>> + use<>, Failure> {
        if request.uri().scheme().is_none() || request.uri().authority().is_none() {
            // Only a signer can change it to that.
            return Err(Failure::invalid_request("the URL has no scheme or no host"));
        }
        let mut request = request.map(Full::new);
        let headers = request.headers_mut();
        for (name, value) in &self.headers {
            if let Entry::Vacant(entry) = headers.entry(name) {
                entry.insert(value.clone());
            }
        }
        Ok(self.client.request(request).map(|response| match response {
            Ok(response) => Ok(received(response)),
            Err(error) => Err(send_failure(error)),
        }))
    }
}

fn received(response: http::Response<Incoming>) -> (ReplyHead, HyperChunks) {
    let (parts, body) = response.into_parts();
    let head = ReplyHead {
        status: parts.status,
        headers: parts.headers,
    };
    (head, HyperChunks(body))
}

fn pairs(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The chunks of a body.
pub(in super::super) struct HyperChunks(Incoming);

impl HyperChunks {
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        loop {
            let frame = ready!(Pin::new(&mut self.0).poll_frame(cx));
            return Poll::Ready(match frame {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(chunk) => Some(Ok(chunk)),
                    // Trailers contain nothing that is of use.
                    Err(_) => continue,
                },
                Some(Err(error)) => Some(Err(body_failure(error))),
                None => None,
            });
        }
    }
}

#[cold]
fn send_failure(error: legacy::Error) -> Failure {
    let is_connect = error.is_connect();
    let mut failure = Failure::new(error, is_connect, false);
    failure.is_timeout = failure.io_kind() == Some(io::ErrorKind::TimedOut);
    failure
}

#[cold]
fn body_failure(error: hyper::Error) -> Failure {
    let is_timeout = error.is_timeout();
    Failure::new(error, false, is_timeout)
}
