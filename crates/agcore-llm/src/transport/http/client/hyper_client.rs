//! [`HyperClient`]: the client on hyper.
//!
//! With HTTP/1.1, a reply and its connection are polled by the same task, see [`link`]. HTTP/2 needs connections that several
//! requests share; these are in the pool of hyper-util.

mod connection;
mod opener;
mod connector;
mod relay;
mod link;
mod idle;
mod pool;
mod reply;
#[cfg(feature = "http2")]
mod multiplexed;

#[cfg(feature = "http2")]
use std::pin::Pin;
use std::{
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures_util::FutureExt;
#[cfg(feature = "http2")]
use futures_util::future::Either;
use http::{HeaderMap, HeaderName, HeaderValue, Request, header, header::Entry};
use http_body_util::Full;
#[cfg(feature = "http2")]
use hyper::body::{Body, Incoming};

use agcore_wire::{LlmError, ReplyHead};

use super::{super::failure::Failure, settings::ClientSettings};
use crate::credential::Credential;

#[cfg(feature = "http2")]
use self::multiplexed::Multiplexed;
use self::{connector::Connector, pool::Pool, reply::Reply};

/// A client on hyper.
pub(in super::super) struct HyperClient {
    sender: Sender,
    /// The headers of every request that does not have them itself.
    headers: Vec<(HeaderName, HeaderValue)>,
    /// Whether a signer may have changed the host of a request.
    may_change_host: bool,
}

enum Sender {
    /// Only HTTP/1.1 is spoken.
    Single(Arc<Pool>),
    /// HTTP/2 is spoken if the server agrees.
    #[cfg(feature = "http2")]
    Multiplexed(Box<Multiplexed>),
}

impl HyperClient {
    pub(super) fn new(settings: ClientSettings<'_>) -> Result<Self, LlmError> {
        let (connector, route_headers) = Connector::new(&settings)?;
        let mut headers = settings.headers;
        headers.extend(route_headers);
        Ok(Self {
            #[cfg(feature = "http2")]
            sender: match settings.base.is_secure() {
                true => Sender::Multiplexed(Box::new(Multiplexed::new(connector))),
                false => Sender::Single(Arc::new(Pool::new(connector))),
            },
            #[cfg(not(feature = "http2"))]
            sender: Sender::Single(Arc::new(Pool::new(connector))),
            headers: pairs(&headers),
            may_change_host: matches!(settings.options.credential, Credential::Signer(_)),
        })
    }

    /// Starts to send a request.
    #[cfg(feature = "http2")]
    pub(super) fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<impl Future<Output = Result<(ReplyHead, HyperChunks), Failure>> + use<>, Failure> {
        let request = self.complete(request)?;
        Ok(match &self.sender {
            Sender::Single(pool) => Either::Left(send_single(pool, request)),
            Sender::Multiplexed(client) => Either::Right(client.send(request).map(|sent| {
                let (parts, body) = sent?.into_parts();
                Ok((head(parts), HyperChunks(Chunks::Multiplexed(body))))
            })),
        })
    }

    /// Starts to send a request.
    #[cfg(not(feature = "http2"))]
    pub(super) fn send(
        &self,
        request: Request<Bytes>,
    ) -> Result<impl Future<Output = Result<(ReplyHead, HyperChunks), Failure>> + use<>, Failure> {
        let request = self.complete(request)?;
        let Sender::Single(pool) = &self.sender;
        Ok(send_single(pool, request))
    }

    /// Adds the headers that a request lacks.
    fn complete(&self, request: Request<Bytes>) -> Result<Request<Full<Bytes>>, Failure> {
        if request.uri().scheme().is_none() || request.uri().authority().is_none() {
            // Only a signer can change it to that.
            return Err(Failure::invalid_request("the URL has no scheme or no host"));
        }
        let mut request = request.map(Full::new);
        if self.may_change_host && matches!(self.sender, Sender::Single(_)) {
            set_host(&mut request);
        }
        let headers = request.headers_mut();
        for (name, value) in &self.headers {
            if let Entry::Vacant(entry) = headers.entry(name) {
                entry.insert(value.clone());
            }
        }
        Ok(request)
    }
}

/// Sets the header `Host` to the host of the URL.
fn set_host<B>(request: &mut Request<B>) {
    let host = request.uri().authority().map(|authority| {
        let authority = authority.as_str();
        HeaderValue::from_str(authority.rsplit('@').next().unwrap_or(authority))
    });
    if let (Some(Ok(host)), Entry::Vacant(entry)) = (host, request.headers_mut().entry(header::HOST)) {
        entry.insert(host);
    }
}

fn send_single(
    pool: &Arc<Pool>,
    request: Request<Full<Bytes>>,
) -> impl Future<Output = Result<(ReplyHead, HyperChunks), Failure>> + use<> {
    let idle = Arc::clone(pool.idle());
    pool.send(request).map(move |sent| {
        let (response, link) = sent?;
        let (parts, body) = response.into_parts();
        let chunks = HyperChunks(Chunks::Single(Reply::new(body, link, idle)));
        Ok((head(parts), chunks))
    })
}

fn head(parts: http::response::Parts) -> ReplyHead {
    ReplyHead {
        status: parts.status,
        headers: parts.headers,
    }
}

fn pairs(headers: &HeaderMap) -> Vec<(HeaderName, HeaderValue)> {
    headers
        .iter()
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

/// The chunks of a body.
pub(in super::super) struct HyperChunks(Chunks);

enum Chunks {
    Single(Reply),
    #[cfg(feature = "http2")]
    Multiplexed(Incoming),
}

impl HyperChunks {
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        loop {
            let frame = match &mut self.0 {
                Chunks::Single(reply) => ready!(reply.poll_frame(cx)),
                #[cfg(feature = "http2")]
                Chunks::Multiplexed(body) => ready!(Pin::new(body).poll_frame(cx)),
            };
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
fn body_failure(error: hyper::Error) -> Failure {
    let is_timeout = error.is_timeout();
    Failure::new(error, false, is_timeout)
}
