//! [`Client`]: sends spans over the HTTP transport that model requests use, so that the program has one HTTP client.

use std::sync::{Arc, OnceLock};

use agcore_llm::{
    LlmError,
    transport::{
        Transport,
        http::{HttpOptions, HttpTransport, Timeouts},
    },
    wire::WireRequest,
};
use async_trait::async_trait;
use futures_util::StreamExt;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use tokio::runtime::Handle;

use crate::collector::Collector;

/// The maximum length of a collector's response, in bytes. The body of a longer response is discarded.
const MAX_RESPONSE: usize = 64 * 1024;

/// Posts spans to a collector and remembers the first error.
#[derive(Debug, Clone)]
pub(super) struct Client {
    transport: Arc<HttpTransport>,
    /// The exporter runs on a thread outside the runtime.
    runtime: Handle,
    error: Arc<OnceLock<String>>,
}

impl Client {
    /// Creates a client for a collector. Sends nothing yet.
    ///
    /// # Errors
    /// When the URL is invalid or TLS cannot be set up.
    pub(super) fn new(collector: &Collector, runtime: Handle) -> Result<Self, LlmError> {
        let timeouts = Timeouts::new()
            .with_connect(collector.timeout)
            .with_first_byte(collector.timeout)
            .with_total(collector.timeout);
        let options = HttpOptions::new(origin(&collector.url)).with_timeouts(timeouts);
        Ok(Self {
            transport: Arc::new(HttpTransport::new(options)?),
            runtime,
            error: Arc::default(),
        })
    }

    /// Returns the reason that the first failed export failed.
    pub(super) fn first_error(&self) -> Option<&str> {
        self.error.get().map(String::as_str)
    }

    fn record(&self, message: String) -> HttpError {
        let error = HttpError::from(message.as_str());
        // Only the first one is reported.
        let _ = self.error.set(message);
        error
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let path = head.uri.path_and_query().map_or("/", |path| path.as_str());
        let mut request = WireRequest::post(path, body);
        request.headers = head.headers;
        let posted = self.runtime.spawn(post(Arc::clone(&self.transport), request));
        let response = match posted.await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(self.record(error.to_string())),
            Err(error) => return Err(self.record(error.to_string())),
        };
        if !response.status().is_success() {
            let _ = self.error.set(format!(
                "the collector responded with HTTP {}",
                response.status().as_u16()
            ));
        }
        Ok(response)
    }
}

/// Sends a request and reads the response.
async fn post(transport: Arc<HttpTransport>, request: WireRequest) -> Result<Response<Bytes>, LlmError> {
    let mut reply = transport.send(request, false).await?;
    let mut body = Vec::new();
    while let Some(piece) = reply.body.next().await {
        body.extend_from_slice(&piece?);
        if body.len() > MAX_RESPONSE {
            body.clear();
            break;
        }
    }
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = reply.head.status;
    *response.headers_mut() = reply.head.headers;
    Ok(response)
}

/// Returns the scheme and host of a URL.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_origin_excludes_path_and_query() {
        let check = |url: &str, expected: &str| assert_eq!(origin(url), expected);
        check("http://localhost:4318/v1/traces", "http://localhost:4318");
        check("https://c.example?x=1", "https://c.example");
        check("https://c.example", "https://c.example");
        check("c", "c");
    }
}
