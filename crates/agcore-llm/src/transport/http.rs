//! [`HttpTransport`]: HTTP by reqwest, TLS by rustls with ring.
//!
//! ```no_run
//! use agcore_llm::{credential::Credential, transport::{http::{HttpOptions, HttpTransport}}};
//!
//! let options = HttpOptions::new("https://api.openai.com/v1").with_credential(Credential::key("sk-…"));
//! let transport = HttpTransport::new(options)?;
//! # Ok::<(), agcore_llm::LlmError>(())
//! ```
//!
//! Connections are kept and used again. Redirects are not followed, so that a credential never reaches a host that nobody
//! named; the environment's proxies are not used unless asked.

mod alarm;
mod authorizer;
mod base;
mod body;
mod denial;
mod error;
mod options;
mod proxy;
mod timeouts;
mod tls;

pub use denial::{NetworkDenial, deny_network};
pub use options::HttpOptions;
pub use proxy::Proxy;
pub use timeouts::Timeouts;

use std::{fmt, pin::pin, time::Duration};

use async_trait::async_trait;
use http::{HeaderMap, StatusCode, header};
use reqwest::{Request, Response, Url};

use crate::{
    credential::{Secret, SecretGuard},
    transport::{Transport, TransportReply},
};
use agcore_wire::{LlmError, LlmErrorKind, ReplyHead, TimeoutStage, WireRequest};

use self::{alarm::Alarm, authorizer::Authorizer, base::BaseUrl, body::Body};

/// How long an unused connection is kept. Below the 75 s after which common reverse proxies close theirs.
const KEEP_UNUSED: Duration = Duration::from_secs(60);

const USER_AGENT: &str = concat!("agcore/", env!("CARGO_PKG_VERSION"));

/// HTTP by reqwest.
pub struct HttpTransport {
    client: reqwest::Client,
    base: BaseUrl,
    authorizer: Authorizer,
    timeouts: Timeouts,
    proxy: Proxy,
    guard: SecretGuard,
}

impl HttpTransport {
    /// A transport to one server. Nothing is sent yet.
    ///
    /// # Errors
    /// `InvalidRequest` for a base URL, header or proxy that is none, `Authentication` for a key that cannot be one,
    /// `Connect` when TLS is needed and cannot be set up.
    pub fn new(options: HttpOptions) -> Result<Self, LlmError> {
        let base = BaseUrl::parse(&options.base_url)?;
        let guard = SecretGuard::new();
        let authorizer = Authorizer::new(options.credential, options.key_header, guard.clone())?;
        let headers = options::read_headers(&options.headers, authorizer.header_name().as_ref(), &guard)?;
        let needs_tls = base.is_secure() || options.proxy.needs_tls();
        let client = client(headers, &options.timeouts, &options.proxy, needs_tls)?;
        Ok(Self {
            client,
            base,
            authorizer,
            timeouts: options.timeouts,
            proxy: options.proxy,
            guard,
        })
    }

    /// What takes this transport's keys out of errors.
    pub fn guard(&self) -> &SecretGuard {
        &self.guard
    }

    async fn answer(&self, request: WireRequest, alarm: &mut Alarm) -> Result<Response, LlmError> {
        if self.authorizer.needs_token() {
            // Boxed, so that requests with a key need no room for it.
            return Box::pin(self.answer_with_token(request, alarm)).await;
        }
        self.attempt(request, None, alarm).await
    }

    /// Sends the request with a token; if the server refuses that, once more with a new one.
    async fn answer_with_token(&self, request: WireRequest, alarm: &mut Alarm) -> Result<Response, LlmError> {
        let token = self.token(None, alarm).await?;
        let response = self.attempt(request.clone(), token.as_ref(), alarm).await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        drop(response);
        let token = self.token(token.as_ref(), alarm).await?;
        self.attempt(request, token.as_ref(), alarm).await
    }

    async fn token(&self, refused: Option<&Secret>, alarm: &mut Alarm) -> Result<Option<Secret>, LlmError> {
        let token = pin!(self.authorizer.token(refused));
        let token = alarm.within(None, TimeoutStage::Total, token).await;
        token.unwrap_or_else(|stage| Err(self.expired(stage)))
    }

    async fn attempt(
        &self,
        request: WireRequest,
        token: Option<&Secret>,
        alarm: &mut Alarm,
    ) -> Result<Response, LlmError> {
        let request = match self.authorizer.signer() {
            None => self.authorizer.finish(request, &self.base, token)?,
            Some(signer) => {
                let mut signed = Box::pin(authorizer::signed(signer, request, &self.base));
                let signed = alarm.within(None, TimeoutStage::Total, signed.as_mut()).await;
                signed.unwrap_or_else(|stage| Err(self.expired(stage)))?
            }
        };
        let answer = pin!(self.execute(request)?);
        let answer = alarm
            .within(self.timeouts.first_byte, TimeoutStage::FirstByte, answer)
            .await;
        answer
            .map_err(|stage| self.expired(stage))?
            .map_err(|error| error::unanswered(error, self.base.origin(), &self.timeouts))
    }

    fn execute(&self, request: Request) -> Result<impl Future<Output = reqwest::Result<Response>> + use<>, LlmError> {
        denial::check(request.url(), &self.proxy)?;
        Ok(self.client.execute(request))
    }

    fn expired(&self, stage: TimeoutStage) -> LlmError {
        self.timeouts.expired(stage, self.base.origin())
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: WireRequest, stream: bool) -> Result<TransportReply, LlmError> {
        let mut alarm = Alarm::new(self.timeouts.total.filter(|_| !stream));
        let mut response = self.answer(request, &mut alarm).await?;
        let head = ReplyHead {
            status: response.status(),
            headers: std::mem::take(response.headers_mut()),
        };
        check_head(&head, self.base.origin())?;
        let body = Body::new(response, alarm, self.timeouts, self.base.origin().clone());
        Ok(TransportReply {
            head,
            body: Box::pin(body),
        })
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("origin", self.base.origin())
            .field("authorizer", &self.authorizer)
            .field("timeouts", &self.timeouts)
            .finish_non_exhaustive()
    }
}

fn client(
    headers: HeaderMap,
    timeouts: &Timeouts,
    proxy: &Proxy,
    needs_tls: bool,
) -> Result<reqwest::Client, LlmError> {
    let mut client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls::client_config(needs_tls)?)
        .redirect(reqwest::redirect::Policy::none())
        .referer(false)
        .user_agent(USER_AGENT)
        .default_headers(headers)
        .pool_idle_timeout(KEEP_UNUSED);
    if let Some(limit) = timeouts.connect {
        client = client.connect_timeout(limit);
    }
    if cfg!(not(feature = "http2")) {
        // Only HTTP/2 hands requests back unread. Where it may, a copy of each is kept to send it again.
        client = client.retry(reqwest::retry::never().max_retries_per_request(0));
    }
    proxy.apply(client)?.build().map_err(|error| {
        LlmError::new(LlmErrorKind::Unknown, "the HTTP client cannot be set up").with_source(error.without_url())
    })
}

/// Refuses replies that no wire can read: redirects, and compression that nobody asked for.
fn check_head(head: &ReplyHead, origin: &str) -> Result<(), LlmError> {
    if head.status.is_redirection() {
        let message = format!(
            "{origin} redirects to {}; redirects are not followed, so set the base URL to where the API is",
            redirect_target(&head.headers, origin).as_deref().unwrap_or("nowhere")
        );
        return Err(LlmError::new(LlmErrorKind::NotFound, message).with_status(head.status.as_u16()));
    }
    let encoding = head
        .headers
        .get(header::CONTENT_ENCODING)
        .filter(|encoding| *encoding != "identity");
    if let Some(encoding) = encoding {
        let message = format!(
            "{origin} sent a compressed answer ({encoding:?}) that nobody asked for; \
             switch its compression off, or build with the feature `gzip` where that is its kind"
        );
        return Err(LlmError::new(LlmErrorKind::Malformed, message).with_status(head.status.as_u16()));
    }
    Ok(())
}

/// Where a redirect leads, without user name, query and fragment, which may hold keys.
fn redirect_target(headers: &HeaderMap, origin: &str) -> Option<String> {
    let location = headers.get(header::LOCATION)?.to_str().ok()?;
    let target = Url::parse(origin).ok()?.join(location).ok()?;
    Some(format!("{}{}", target.origin().ascii_serialization(), target.path()))
}
