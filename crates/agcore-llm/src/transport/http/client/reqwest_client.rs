//! [`ReqwestClient`]: the client on reqwest.

use std::{
    future::Future,
    net::SocketAddr,
    pin::pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::FutureExt;
use http::Request;
use reqwest::redirect::Policy;

use agcore_wire::{LlmError, LlmErrorKind, ReplyHead};

use super::{
    super::{base_url::BaseUrl, failure::Failure, proxy, route::ProxyRoute, tls},
    settings::{ClientSettings, POOL_IDLE_TIMEOUT},
};

/// A client on reqwest.
pub(in super::super) struct ReqwestClient(reqwest::Client);

impl ReqwestClient {
    pub(super) fn new(settings: ClientSettings<'_>) -> Result<Self, LlmError> {
        let needs_tls = settings.base.is_secure() || settings.proxy.is_some_and(ProxyRoute::is_secure);
        let mut client = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::client_config(needs_tls, &settings.options.tls)?)
            .redirect(Policy::none())
            .referer(false)
            .default_headers(settings.headers)
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            // The route contains the proxy of the environment, if it is used.
            .no_proxy();
        if let Some(limit) = settings.options.timeouts.connect {
            client = client.connect_timeout(limit);
        }
        if let (Some(address), Some(host)) = (settings.options.address, settings.base.url().host_str()) {
            // Port 0 means the port of the URL.
            client = client.resolve(host, SocketAddr::new(address, 0));
        }
        if let Some(route) = settings.proxy {
            let proxy = reqwest::Proxy::all(route.url().expose());
            client = client.proxy(proxy.map_err(|error| proxy::invalid().with_source(error.without_url()))?);
        }
        if cfg!(not(feature = "http2")) {
            // Only HTTP/2 servers can hand back a request unprocessed. Retrying keeps a copy of each request, so disable
            // it.
            client = client.retry(reqwest::retry::never().max_retries_per_request(0));
        }
        client.build().map(Self).map_err(|error| {
            LlmError::new(LlmErrorKind::Unknown, "cannot create the HTTP client").with_source(error.without_url())
        })
    }

    pub(super) fn send(
        &self,
        request: Request<Bytes>,
        base: &BaseUrl,
    ) -> Result<impl Future<Output = Result<(ReplyHead, ReqwestChunks), Failure>> + use<>, Failure> {
        let (parts, body) = request.into_parts();
        let url = base.to_url(&parts.uri).map_err(Failure::invalid_request)?;
        let mut request = reqwest::Request::new(parts.method, url);
        *request.headers_mut() = parts.headers;
        *request.body_mut() = Some(body.into());
        Ok(self.0.execute(request).map(|response| match response {
            Ok(response) => Ok(received(response)),
            Err(error) => Err(failure(error)),
        }))
    }
}

fn received(mut response: reqwest::Response) -> (ReplyHead, ReqwestChunks) {
    let head = ReplyHead {
        status: response.status(),
        headers: std::mem::take(response.headers_mut()),
    };
    (head, ReqwestChunks(response))
}

/// The chunks of a body.
pub(in super::super) struct ReqwestChunks(reqwest::Response);

impl ReqwestChunks {
    pub(super) fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Failure>>> {
        // The future has no state of its own: creating one for each poll neither allocates nor loses bytes.
        let chunk = pin!(self.0.chunk()).poll(cx);
        chunk.map(|chunk| chunk.map_err(failure).transpose())
    }
}

#[cold]
fn failure(error: reqwest::Error) -> Failure {
    if error.is_builder() {
        return Failure::invalid_request(error.without_url());
    }
    let (is_connect, is_timeout) = (error.is_connect(), error.is_timeout());
    Failure::new(error.without_url(), is_connect, is_timeout)
}
