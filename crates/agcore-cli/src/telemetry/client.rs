//! [`Client`]: how spans travel. The same HTTP transport as for models, so that there is one way out of the program.

use std::sync::{Arc, OnceLock};

use agcore::llm::{
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

use super::collector::Collector;

/// No answer of a collector is longer.
const ANSWER: usize = 64 * 1024;

/// Posts spans to a collector, and remembers why it first could not.
#[derive(Debug, Clone)]
pub(super) struct Client {
    transport: Arc<HttpTransport>,
    /// Spans are exported by a thread outside the runtime.
    runtime: Handle,
    fault: Arc<OnceLock<String>>,
}

impl Client {
    /// A client for this collector. Nothing is sent yet.
    ///
    /// # Errors
    /// An address that is none; TLS that cannot be set up.
    pub(super) fn new(collector: &Collector, runtime: Handle) -> Result<Self, LlmError> {
        let timeouts = Timeouts::new()
            .with_connect(collector.timeout)
            .with_first_byte(collector.timeout)
            .with_total(collector.timeout);
        let options = HttpOptions::new(origin(&collector.url)).with_timeouts(timeouts);
        Ok(Self {
            transport: Arc::new(HttpTransport::new(options)?),
            runtime,
            fault: Arc::default(),
        })
    }

    /// Why the first export that failed did.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    fn lost(&self, why: String) -> HttpError {
        let error = HttpError::from(why.as_str());
        // Only the first one is told.
        let _ = self.fault.set(why);
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
            Ok(Err(error)) => return Err(self.lost(error.chain())),
            Err(error) => return Err(self.lost(error.to_string())),
        };
        if !response.status().is_success() {
            let _ = self
                .fault
                .set(format!("it answers HTTP {}", response.status().as_u16()));
        }
        Ok(response)
    }
}

/// Sends the request and reads the answer.
async fn post(transport: Arc<HttpTransport>, request: WireRequest) -> Result<Response<Bytes>, LlmError> {
    let mut reply = transport.send(request, false).await?;
    let mut body = Vec::new();
    while let Some(piece) = reply.body.next().await {
        body.extend_from_slice(&piece?);
        if body.len() > ANSWER {
            body.clear();
            break;
        }
    }
    let mut response = Response::new(Bytes::from(body));
    *response.status_mut() = reply.head.status;
    *response.headers_mut() = reply.head.headers;
    Ok(response)
}

/// Scheme and host of an address.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let end = url[host..].find(['/', '?', '#']).map_or(url.len(), |at| host + at);
    &url[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_is_no_part_of_the_origin() {
        let check = |url: &str, expected: &str| assert_eq!(origin(url), expected);
        check("http://localhost:4318/v1/traces", "http://localhost:4318");
        check("https://c.example?x=1", "https://c.example");
        check("https://c.example", "https://c.example");
        check("c", "c");
    }
}
