//! [`LlmError`]: the error of a failed model call.

mod kind;
mod unsupported;

pub use kind::{LlmErrorKind, TimeoutStage};
pub use unsupported::Unsupported;

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use agcore_chat::{
    ChatResponse, Fault,
    text::{error_chain, prefix},
};

/// The error of a failed model call. It is the size of a pointer.
///
/// `Display` prints what happened and what to do next, without bodies and keys; [`chain`](Self::chain) adds the causes.
///
/// ```
/// use std::time::Duration;
///
/// use agcore_wire::{LlmError, LlmErrorKind};
///
/// let error = LlmError::new(LlmErrorKind::RateLimit, "too many requests: wait and try again")
///     .with_provider("openai")
///     .with_status(429)
///     .with_retry_after(Some(Duration::from_secs(20)));
/// assert_eq!(error.to_string(), "openai: too many requests: wait and try again (HTTP 429)");
/// assert!(error.is_retryable());
///
/// // An error as data, for events and journals, and back.
/// let restored = LlmError::from(error.fault());
/// assert_eq!(restored.kind(), error.kind());
/// assert_eq!(restored.retry_after(), Some(Duration::from_secs(20)));
/// ```
pub struct LlmError(Box<Inner>);

#[derive(Default)]
struct Inner {
    kind: LlmErrorKind,
    message: Cow<'static, str>,
    retryable: Option<bool>,
    retry_after: Option<Duration>,
    provider: Option<String>,
    model: Option<String>,
    status: Option<u16>,
    headers: Vec<(String, String)>,
    request_id: Option<String>,
    body_excerpt: Option<String>,
    partial: Option<ChatResponse>,
    unsupported: Option<Unsupported>,
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The maximum length of the excerpt of a body, in bytes.
const MAX_EXCERPT: usize = 500;

impl LlmError {
    /// Creates an error. The message states what happened and, if possible, what to do next.
    pub fn new(kind: LlmErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            ..Inner::default()
        }))
    }

    /// Creates a `Truncated` error about a stream that ended without its end marker.
    pub fn truncated() -> Self {
        Self::new(
            LlmErrorKind::Truncated,
            "the reply ended in the middle: the stream stopped without an end marker",
        )
    }

    /// Creates a `Cancelled` error about a call that the caller cancelled.
    pub fn cancelled() -> Self {
        Self::new(LlmErrorKind::Cancelled, "the call was cancelled")
    }

    /// Returns the kind of failure.
    pub fn kind(&self) -> LlmErrorKind {
        self.0.kind
    }

    /// Returns what happened, without the provider's name and without causes.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable.unwrap_or_else(|| self.0.kind.is_retryable())
    }

    /// Returns how long the server asks to wait before a retry.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Returns the name of the provider.
    pub fn provider(&self) -> Option<&str> {
        self.0.provider.as_deref()
    }

    /// Returns the model that was asked.
    pub fn model(&self) -> Option<&str> {
        self.0.model.as_deref()
    }

    /// Returns the HTTP status, if there was a reply.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Returns useful headers of the reply: limits, hints, request ids. Names are in lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.0.headers
    }

    /// Returns the server's id of the request, which its support may ask for.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// Returns the beginning of the body that reported the error. `Display` leaves it out, because it may contain user data.
    pub fn body_excerpt(&self) -> Option<&str> {
        self.0.body_excerpt.as_deref()
    }

    /// Returns the part of the reply that arrived before the failure.
    pub fn partial(&self) -> Option<&ChatResponse> {
        self.0.partial.as_ref()
    }

    /// Returns the parameter that the encoder refused because the API or the dialect cannot express it.
    ///
    /// Such an error never comes from a server, so its [`status`](Self::status) is `None`: another provider may well accept
    /// the request. [`adapt::relax`](crate::adapt::relax) removes parameters that only tune the reply.
    pub fn unsupported(&self) -> Option<&Unsupported> {
        self.0.unsupported.as_ref()
    }

    /// Returns whether the encoder refused the request because the API or the dialect cannot express it. No request was
    /// sent.
    pub fn is_unsupported(&self) -> bool {
        self.0.unsupported.is_some()
    }

    /// Returns the error as data, for events, journals and cassettes.
    pub fn fault(&self) -> Fault {
        Fault::new(self.0.kind.fault_kind(), self.to_string())
            .with_retryable(self.is_retryable())
            .with_retry_after(self.0.retry_after)
            .with_status(self.0.status)
            .with_request_id(self.0.request_id.clone())
    }

    /// Returns the error followed by its causes, for logs and users.
    pub fn chain(&self) -> String {
        error_chain(self)
    }

    /// Replaces the message.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Overrides whether the same call may succeed later.
    #[must_use]
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = Some(retryable);
        self
    }

    /// Sets how long the server asks to wait before a retry.
    #[must_use]
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// Sets the name of the provider.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.0.provider = Some(provider.into());
        self
    }

    /// Sets the model that was asked.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.0.model = Some(model.into());
        self
    }

    /// Sets the HTTP status.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Sets the useful headers of the reply.
    #[must_use]
    pub fn with_headers(mut self, headers: Vec<(String, String)>) -> Self {
        self.0.headers = headers;
        self
    }

    /// Sets the server's id of the request; `None` keeps the current one.
    #[must_use]
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.0.request_id = id.or(self.0.request_id);
        self
    }

    /// Sets the excerpt of the body, truncated to 500 bytes.
    #[must_use]
    pub fn with_body(mut self, body: &str) -> Self {
        self.0.body_excerpt = Some(prefix(body, MAX_EXCERPT).to_owned());
        self
    }

    /// Sets the part of the reply that arrived before the failure; `None` keeps the current one.
    #[must_use]
    pub fn with_partial(mut self, partial: Option<ChatResponse>) -> Self {
        self.0.partial = partial.or(self.0.partial);
        self
    }

    /// Sets the parameter that the API cannot express.
    #[must_use]
    pub fn with_unsupported(mut self, unsupported: Unsupported) -> Self {
        self.0.unsupported = Some(unsupported);
        self
    }

    /// Sets the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(provider) = self
            .0
            .provider
            .as_deref()
            .filter(|name| !begins_with(&self.0.message, name))
        {
            write!(f, "{provider}: ")?;
        }
        f.write_str(&self.0.message)?;
        match self.0.status {
            // A summary of several attempts states the status of each.
            Some(status) if !ends_with_status(&self.0.message, status) => write!(f, " (HTTP {status})"),
            _ => Ok(()),
        }
    }
}

/// Returns whether a message ends with this status, as `Display` writes it.
fn ends_with_status(message: &str, status: u16) -> bool {
    let stated = message.strip_suffix(')').and_then(|text| text.rsplit_once("(HTTP "));
    stated.is_some_and(|(_, number)| number.parse() == Ok(status))
}

/// Returns whether a message begins with the name of its provider, so that the name need not be repeated.
fn begins_with(message: &str, name: &str) -> bool {
    let Some((begin, rest)) = message.split_at_checked(name.len()) else {
        return false;
    };
    begin.eq_ignore_ascii_case(name) && rest.starts_with([' ', ':', '\''])
}

/// Writes the error with its causes like [`chain`](LlmError::chain), because this is what a `main` that returns the error
/// prints. The alternate form `{:#?}` lists the fields.
impl fmt::Debug for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !f.alternate() {
            return f.write_str(&self.chain());
        }
        f.debug_struct("LlmError")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("provider", &self.0.provider)
            .field("model", &self.0.model)
            .field("status", &self.0.status)
            .field("retry_after", &self.0.retry_after)
            .field("request_id", &self.0.request_id)
            .field("partial", &self.0.partial.is_some())
            .field("source", &self.0.source)
            .finish()
    }
}

impl Error for LlmError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Restores an error from data, as stored in journals and cassettes.
impl From<Fault> for LlmError {
    fn from(fault: Fault) -> Self {
        let mut error = Self::new(fault.kind.into(), fault.message)
            .with_retryable(fault.retryable)
            .with_retry_after(fault.retry_after)
            .with_request_id(fault.request_id);
        error.0.status = fault.status;
        error
    }
}
