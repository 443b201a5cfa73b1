//! [`HttpSender`]: sends messages over HTTP, to public addresses and to those that the operator allows.

mod allowed;
mod retry_after;

use std::time::Duration;

use agcore_chat::{Clock, SystemClock};
use agcore_llm::{
    LlmError, LlmErrorKind,
    transport::{
        Transport, TransportReply,
        address::{Route, is_private_name, is_public, literal, route},
        http::{HttpOptions, HttpTransport, Proxy, Timeouts},
    },
    wire::WireRequest,
};
use agcore_webhook::Attempt;
use async_trait::async_trait;
use futures_util::StreamExt;
use http::{HeaderMap, HeaderValue};
use tokio::time::{Instant, timeout_at};
use url::Url;

use self::{allowed::AllowedHost, retry_after::retry_after};
use super::{WebhookMessage, WebhookSender};
use crate::error::ServerError;

/// The longest time that a message may take.
const LIMIT: Duration = Duration::from_secs(15);

/// The part of an answer that is read, in bytes, so that the receiver can finish it. Nothing in it is used.
const MAX_ANSWER: usize = 64 * 1024;

/// The reason for both, so that users do not learn which names exist in the network of the operator.
const NOT_FOUND: &str =
    "the host was not found, or is on a private or local address, to which this server sends no messages";

/// Sends the messages of webhooks over HTTP.
///
/// Messages go to public addresses with `https`. The host is looked up once, and the connection is opened to the address that was
/// checked. Other addresses, and `http`, are only for hosts that the operator [allows](Self::with_allowed_host).
///
/// ```
/// use agcore_server::{HttpSender, WebhookSender};
///
/// let sender = HttpSender::new().with_allowed_host("hooks.internal:8080")?;
/// assert!(sender.check("https://example.com/hook").is_ok());
/// assert!(sender.check("http://hooks.internal:8080/hook").is_ok());
/// for refused in ["http://example.com/hook", "https://10.0.0.5/", "https://hooks.internal/hook"] {
///     assert!(sender.check(refused).is_err());
/// }
/// # Ok::<(), agcore_server::ServerError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct HttpSender {
    allowed: Vec<AllowedHost>,
    proxy: Proxy,
}

impl HttpSender {
    /// Creates a sender to public addresses, without a proxy.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows messages to a host on any address, also with `http`: `HOST:PORT`, or `HOST` for the ports 80 and 443.
    ///
    /// # Errors
    /// [`WebhookHost`](ServerError::WebhookHost) if the text is not a host.
    pub fn with_allowed_host(mut self, host: &str) -> Result<Self, ServerError> {
        let allowed = AllowedHost::parse(host).ok_or_else(|| ServerError::WebhookHost(host.to_owned()))?;
        self.allowed.push(allowed);
        Ok(self)
    }

    /// Sends messages through a proxy, which looks up the hosts itself. Names that only a private network knows, and those that
    /// this machine finds on private addresses, are refused before. By default, there is no proxy.
    #[must_use]
    pub fn with_proxy(mut self, proxy: Proxy) -> Self {
        self.proxy = proxy;
        self
    }

    /// Returns whether the operator allows the host of a URL.
    fn is_allowed(&self, url: &Url) -> bool {
        self.allowed.iter().any(|allowed| allowed.matches(url))
    }

    fn checked(&self, url: &str) -> Result<Url, String> {
        let url = Url::parse(url).map_err(|error| format!("the URL is not valid: {error}"))?;
        if self.is_allowed(&url) {
            return Ok(url);
        }
        if url.scheme() != "https" {
            return Err("the URL must begin with https://".to_owned());
        }
        let host = url.host_str().unwrap_or_default();
        let is_possible = match literal(host) {
            Some(address) => is_public(address),
            None => !is_private_name(host),
        };
        match is_possible {
            true => Ok(url),
            false => Err(
                "the URL is on a private or local address, to which this server sends no messages; \
                          its operator can allow the host"
                    .to_owned(),
            ),
        }
    }

    /// Sends a message, and returns the beginning of the answer.
    async fn answer(&self, message: WebhookMessage) -> Result<TransportReply, Failure> {
        let url = self.checked(&message.url)?;
        let origin = url.origin().ascii_serialization();
        let is_proxied = self.proxy.route(&origin)?.is_some();
        let host = url.host_str().unwrap_or_default();
        let server = (host, url.port_or_known_default().unwrap_or(443));
        let limits = Timeouts::unlimited().with_connect(LIMIT).with_total(LIMIT);
        let mut options = HttpOptions::new(origin)
            .with_header("accept-encoding", "identity")
            .with_timeouts(limits)
            .with_proxy(self.proxy.clone())
            .with_redirects_returned()
            .with_hidden_paths();
        match route(server, self.is_allowed(&url), is_proxied, LIMIT).await {
            Ok(Route::Address(address)) => options = options.with_address(address),
            Ok(_) => {}
            Err(refusal) => {
                tracing::debug!(%refusal, host, "a message of a webhook was not sent");
                return Err(NOT_FOUND.to_owned().into());
            }
        }
        let path = match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_owned(),
        };
        let mut request = WireRequest::post(path, message.body);
        request.headers = headers(message.headers)?;
        Ok(HttpTransport::new(options)?.send(request, false).await?)
    }
}

#[async_trait]
impl WebhookSender for HttpSender {
    fn check(&self, url: &str) -> Result<(), String> {
        self.checked(url).map(drop)
    }

    async fn send(&self, message: WebhookMessage) -> Attempt {
        let begin = Instant::now();
        let end = begin + LIMIT;
        let answered = timeout_at(end, self.answer(message)).await;
        let took = begin.elapsed();
        let reply = match answered.unwrap_or(Err(Failure::Late)) {
            Ok(reply) => reply,
            Err(Failure::Answered(status)) => return Attempt::answered(status, took),
            Err(failure) => return Attempt::failed(failure.reason(), took),
        };
        let status = reply.head.status;
        let mut attempt = Attempt::answered(status.as_u16(), took);
        if matches!(status.as_u16(), 429 | 503) {
            let now = SystemClock::new().now().into();
            attempt = attempt.with_retry_after(retry_after(&reply.head.headers, now));
        }
        if status.is_redirection() {
            attempt.reason = Some("the receiver redirects to another URL; redirects are not followed".to_owned());
        }
        drop(timeout_at(end, read(reply)).await);
        attempt
    }
}

/// The reason a message got no answer.
enum Failure {
    /// A reason for users.
    Reason(String),
    /// There was an answer, which could not be read.
    Answered(u16),
    /// There was none in time.
    Late,
}

impl Failure {
    fn reason(self) -> String {
        match self {
            Self::Reason(reason) => reason,
            Self::Answered(_) | Self::Late => format!("the receiver did not answer within {} s", LIMIT.as_secs()),
        }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self::Reason(reason)
    }
}

/// Returns a reason that describes nothing of the proxy and of the network of the operator.
impl From<LlmError> for Failure {
    fn from(error: LlmError) -> Self {
        tracing::debug!(%error, "a message of a webhook was not delivered");
        let reason = match (error.status(), error.kind()) {
            (Some(status), kind) if kind != LlmErrorKind::Authentication => return Self::Answered(status),
            (_, LlmErrorKind::Timeout(_)) => return Self::Late,
            (_, LlmErrorKind::Connect) if error.is_retryable() => {
                "the receiver cannot be reached, or has closed the connection without an answer"
            }
            (_, LlmErrorKind::Connect) => "the receiver has no valid certificate, or does not speak HTTP",
            _ => "the message cannot be sent to this URL, or the answer is not valid HTTP",
        };
        Self::Reason(reason.to_owned())
    }
}

fn headers(headers: Vec<(&'static str, String)>) -> Result<HeaderMap, Failure> {
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let value = HeaderValue::try_from(value).map_err(|_| format!("the header `{name}` cannot be sent"))?;
        map.insert(name, value);
    }
    Ok(map)
}

/// Reads an answer to its end, or to the limit.
async fn read(mut reply: TransportReply) {
    let mut size = 0;
    while let Some(Ok(piece)) = reply.body.next().await {
        size += piece.len();
        if size > MAX_ANSWER {
            return;
        }
    }
}
