//! [`WebhookSender`]: sends the messages of webhooks. [`IncomingHook`]: starts runs when other programs send events.

#[cfg(feature = "http-sender")]
mod http_sender;
mod incoming;

use std::fmt;

use agcore_chat::Timestamp;
use agcore_webhook::{Attempt, ClaimedDelivery};
use async_trait::async_trait;
use tracing::Span;

#[cfg(feature = "http-sender")]
pub use self::http_sender::HttpSender;
pub use self::incoming::IncomingHook;
pub(crate) use self::incoming::{Delivery, Hooks};

const USER_AGENT: &str = concat!("agcore/", env!("CARGO_PKG_VERSION"));

/// Sends the messages of webhooks, and decides to which addresses they may go. `HttpSender` (feature `http-sender`) is the usual
/// one.
///
/// Users choose the URLs. An implementation must not let them reach what only the operator may reach, and must not describe
/// it to them: the reasons that it returns are shown to the owner of the webhook.
#[async_trait]
pub trait WebhookSender: fmt::Debug + Send + Sync {
    /// Checks that messages may be sent to a URL, to the extent that the URL alone shows it. Called when a webhook is created or
    /// changed.
    ///
    /// # Errors
    /// When they may not: the reason, as a sentence without a full stop.
    fn check(&self, url: &str) -> Result<(), String>;

    /// Sends a message once, with `POST`, and returns the result. Redirects are not followed.
    ///
    /// The future is dropped if it takes longer than 30 s, or the server ends.
    async fn send(&self, message: WebhookMessage) -> Attempt;
}

/// A message as it is sent.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookMessage {
    /// The URL to which it is sent.
    pub url: String,
    /// Its headers, with the signature.
    pub headers: Vec<(&'static str, String)>,
    /// Its body.
    pub body: String,
}

impl WebhookMessage {
    /// Returns a message that was claimed, as it is sent at a time.
    pub(crate) fn new(claimed: &ClaimedDelivery, at: Timestamp) -> Self {
        let id = &claimed.delivery.id;
        let body = claimed.delivery.event.body();
        let signatures = claimed.webhook.signatures(id, at, &body);
        let headers = vec![
            ("content-type", "application/json".to_owned()),
            ("user-agent", USER_AGENT.to_owned()),
            ("webhook-id", id.clone()),
            ("webhook-timestamp", at.as_millis().div_euclid(1000).to_string()),
            ("webhook-signature", signatures),
        ];
        Self {
            url: claimed.webhook.url.clone(),
            headers,
            body,
        }
    }

    /// Adds the headers by which the trace of a span continues at the receiver, if spans are collected.
    pub(crate) fn continue_trace(&mut self, span: &Span) {
        if let Some(context) = agcore_trace::context_of(span) {
            self.headers.push(("traceparent", context.traceparent()));
            let state = context.tracestate().map(|state| ("tracestate", state.to_owned()));
            self.headers.extend(state);
        }
    }
}

/// Hides the URL, which may contain a key, and the headers.
impl fmt::Debug for WebhookMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookMessage").finish_non_exhaustive()
    }
}
