//! [`HttpTransport`]: HTTP with reqwest or hyper, TLS with rustls and ring.
//!
//! ```
//! use agcore_llm::{credential::Credential, transport::http::{HttpOptions, HttpTransport}};
//!
//! let options = HttpOptions::new("http://localhost:8000/v1").with_credential(Credential::key("sk-secret-123"));
//! let transport = HttpTransport::new(options)?;
//! assert!(!format!("{transport:?}").contains("sk-secret"));
//! # Ok::<(), agcore_llm::LlmError>(())
//! ```
//!
//! Requests are sent directly with hyper (feature `http`) or with reqwest (feature `http-reqwest`), which does the same with
//! more instructions and memory; see [`HttpClient`].
//!
//! Connections are kept alive and reused. Redirects are not followed, so a credential only reaches the configured host.
//! Proxies of the environment are ignored unless [`Proxy::Environment`] is set.

mod authorizer;
mod base_url;
mod body;
mod client;
mod content;
mod denial;
mod error;
mod failure;
#[cfg(feature = "gzip")]
mod gunzip;
mod http_client;
mod options;
mod proxy;
mod route;
mod timeouts;
mod timer;
mod tls;
mod trace;

pub use denial::{NetworkDenial, deny_network};
pub use error::ProxyError;
pub use http_client::HttpClient;
pub use options::HttpOptions;
pub use proxy::Proxy;
pub use route::ProxyRoute;
pub use timeouts::Timeouts;
pub use tls::TlsOptions;

use std::{fmt, pin::pin};

use async_trait::async_trait;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use url::Url;

use crate::{
    credential::{Secret, SecretGuard},
    transport::{Transport, TransportReply},
};
use agcore_wire::{LlmError, LlmErrorKind, ReplyHead, TimeoutStage, WireRequest};

use self::{
    authorizer::Authorizer,
    base_url::BaseUrl,
    body::Body,
    client::{Client, ClientSettings, Response},
    content::Content,
    failure::Failure,
    timer::ExchangeTimer,
};

const USER_AGENT: &str = concat!("agcore/", env!("CARGO_PKG_VERSION"));

/// A transport over HTTP, with the connection pool of one server.
pub struct HttpTransport {
    client: Client,
    base: BaseUrl,
    authorizer: Authorizer,
    timeouts: Timeouts,
    /// The proxy for this server, if there is one.
    proxy: Option<ProxyRoute>,
    guard: SecretGuard,
    returns_redirects: bool,
    logs_paths: bool,
}

impl HttpTransport {
    /// Creates a transport to one server. Does not connect yet.
    ///
    /// # Errors
    /// - `InvalidRequest` for an invalid base URL, header, proxy or certificate.
    /// - `Authentication` for a key that cannot be sent in a header.
    /// - `Connect` if TLS is needed and cannot be set up.
    pub fn new(options: HttpOptions) -> Result<Self, LlmError> {
        let base = BaseUrl::parse(&options.base_url)?;
        let guard = SecretGuard::new();
        let authorizer = Authorizer::new(options.credential.clone(), options.key_header.clone(), guard.clone())?;
        let headers = options::parse_headers(&options.headers, authorizer.header_name().as_ref(), &guard)?;
        let proxy = options.proxy.route_to(&base)?;
        let client = Client::new(ClientSettings {
            base: &base,
            options: &options,
            headers: with_defaults(headers),
            proxy: proxy.as_ref(),
        })?;
        Ok(Self {
            client,
            base,
            authorizer,
            timeouts: options.timeouts,
            proxy,
            guard,
            returns_redirects: options.returns_redirects,
            logs_paths: options.logs_paths,
        })
    }

    /// Returns the guard that redacts the keys of this transport in errors.
    pub fn guard(&self) -> &SecretGuard {
        &self.guard
    }

    async fn respond(&self, request: WireRequest, timer: &mut ExchangeTimer) -> Result<Response, LlmError> {
        if self.authorizer.needs_token() {
            // Boxed to keep the future of requests without a token small.
            return Box::pin(self.respond_with_token(request, timer)).await;
        }
        self.attempt(request, None, timer).await
    }

    /// Sends the request with a token. If the server refuses the token, sends it once more with a new one.
    async fn respond_with_token(&self, request: WireRequest, timer: &mut ExchangeTimer) -> Result<Response, LlmError> {
        let token = self.token(None, timer).await?;
        let response = self.attempt(request.clone(), token.as_ref(), timer).await?;
        if response.head.status != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        drop(response);
        let token = self.token(token.as_ref(), timer).await?;
        self.attempt(request, token.as_ref(), timer).await
    }

    async fn token(&self, refused: Option<&Secret>, timer: &mut ExchangeTimer) -> Result<Option<Secret>, LlmError> {
        let token = pin!(self.authorizer.token(refused));
        let token = timer.limit(None, TimeoutStage::Total, token).await;
        token.unwrap_or_else(|stage| Err(self.timeout_error(stage)))
    }

    async fn attempt(
        &self,
        request: WireRequest,
        token: Option<&Secret>,
        timer: &mut ExchangeTimer,
    ) -> Result<Response, LlmError> {
        let request = match self.authorizer.signer() {
            None => self.authorizer.authorize(request, &self.base, token)?,
            Some(signer) => {
                let mut signed = Box::pin(authorizer::sign(signer, request, &self.base));
                let signed = timer.limit(None, TimeoutStage::Total, signed.as_mut()).await;
                signed.unwrap_or_else(|stage| Err(self.timeout_error(stage)))?
            }
        };
        denial::check(request.uri(), self.proxy.as_ref())?;
        let response = self.client.send(request, &self.base);
        let mut response = pin!(response.map_err(|failure| self.send_error(failure))?);
        let first_byte = timer.first_byte(&self.timeouts);
        let response = timer
            .limit(first_byte, TimeoutStage::FirstByte, response.as_mut())
            .await;
        response
            .map_err(|stage| self.timeout_error(stage))?
            .map_err(|failure| self.send_error(failure))
    }

    #[cold]
    fn send_error(&self, failure: Failure) -> LlmError {
        error::send_error(failure, &self.base, self.proxy.as_ref(), &self.timeouts)
    }

    fn timeout_error(&self, stage: TimeoutStage) -> LlmError {
        self.timeouts.error(stage, self.base.origin())
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: WireRequest, stream: bool) -> Result<TransportReply, LlmError> {
        let mut timer = ExchangeTimer::new(&self.timeouts, stream);
        trace::request(&request, &self.base, self.logs_paths);
        let Response { mut head, chunks } = self.respond(request, &mut timer).await?;
        let content = Content::new(chunks, &mut head.headers);
        trace::response(&head);
        if head.status == StatusCode::PROXY_AUTHENTICATION_REQUIRED
            && let Some(proxy) = &self.proxy
        {
            return Err(error::proxy_authentication(proxy, None));
        }
        if !self.returns_redirects {
            check_redirect(&head, self.base.origin())?;
        }
        check_encoding(&head, self.base.origin())?;
        let body = Body::new(content, timer, self.timeouts, self.base.origin().clone());
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

/// Adds the headers that every request has unless the settings replace them.
fn with_defaults(mut headers: HeaderMap) -> HeaderMap {
    let defaults = [
        (header::ACCEPT, Some("*/*")),
        (header::ACCEPT_ENCODING, content::ACCEPTED),
        (header::USER_AGENT, Some(USER_AGENT)),
    ];
    for (name, value) in defaults {
        if let Some(value) = value {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
    }
    headers
}

/// Rejects redirects, which no wire can decode.
fn check_redirect(head: &ReplyHead, origin: &str) -> Result<(), LlmError> {
    if head.status.is_redirection() {
        let message = format!(
            "{origin} redirects to {}; redirects are not followed: set the base URL to the final address of the API",
            redirect_target(&head.headers, origin)
                .as_deref()
                .unwrap_or("an unknown address")
        );
        return Err(LlmError::new(LlmErrorKind::NotFound, message).with_status(head.status.as_u16()));
    }
    Ok(())
}

/// Rejects replies with compression that was not requested.
fn check_encoding(head: &ReplyHead, origin: &str) -> Result<(), LlmError> {
    let encoding = head
        .headers
        .get(header::CONTENT_ENCODING)
        .filter(|encoding| *encoding != "identity");
    if let Some(encoding) = encoding {
        let message = format!(
            "{origin} sent a compressed reply ({encoding:?}), which was not requested; \
             disable compression on the server, or enable the feature `gzip` if it uses gzip"
        );
        return Err(LlmError::new(LlmErrorKind::Malformed, message).with_status(head.status.as_u16()));
    }
    Ok(())
}

/// Returns the target of a redirect without user name, query and fragment, which may contain keys.
fn redirect_target(headers: &HeaderMap, origin: &str) -> Option<String> {
    let location = headers.get(header::LOCATION)?.to_str().ok()?;
    let target = Url::parse(origin).ok()?.join(location).ok()?;
    Some(format!("{}{}", target.origin().ascii_serialization(), target.path()))
}
