//! [`LlmError`]: what went wrong between us and a model, and what to do about it.

mod kind;

pub use kind::{LlmErrorKind, TimeoutStage};

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use agcore_chat::{ChatResponse, Fault, floor_boundary};

/// A failed call of a model. Small: everything is behind one pointer.
///
/// `Display` prints what happened and what to do next, without bodies and keys; [`chain`](Self::chain) adds the causes.
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
    source: Option<Box<dyn Error + Send + Sync>>,
}

/// The longest excerpt of a body that an error keeps, in bytes.
const EXCERPT: usize = 500;

impl LlmError {
    /// An error of a kind. The message says what happened and, where it can, what to do next.
    pub fn new(kind: LlmErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            ..Inner::default()
        }))
    }

    /// Cancelled by the caller.
    pub fn cancelled() -> Self {
        Self::new(LlmErrorKind::Cancelled, "the call was cancelled")
    }

    /// What kind of failure.
    pub fn kind(&self) -> &LlmErrorKind {
        &self.0.kind
    }

    /// What happened, one layer, without the provider's name.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Whether the same call may succeed later.
    pub fn is_retryable(&self) -> bool {
        self.0.retryable.unwrap_or_else(|| self.0.kind.is_retryable())
    }

    /// How long the server asks to wait before a retry.
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The provider's name.
    pub fn provider(&self) -> Option<&str> {
        self.0.provider.as_deref()
    }

    /// The model that was asked.
    pub fn model(&self) -> Option<&str> {
        self.0.model.as_deref()
    }

    /// HTTP status, where there was a reply.
    pub fn status(&self) -> Option<u16> {
        self.0.status
    }

    /// Useful headers of the reply: limits, hints, request ids. Names are lower case.
    pub fn headers(&self) -> &[(String, String)] {
        &self.0.headers
    }

    /// The server's id of the request, for its support.
    pub fn request_id(&self) -> Option<&str> {
        self.0.request_id.as_deref()
    }

    /// The beginning of the body, where the error came from one. Not part of `Display`, as it may hold user data.
    pub fn body_excerpt(&self) -> Option<&str> {
        self.0.body_excerpt.as_deref()
    }

    /// What had arrived of the answer before the failure.
    pub fn partial(&self) -> Option<&ChatResponse> {
        self.0.partial.as_ref()
    }

    /// The error as data, for events, journals and cassettes.
    pub fn fault(&self) -> Fault {
        Fault::new(self.0.kind.fault_kind(), self.to_string())
            .with_retryable(self.is_retryable())
            .with_retry_after(self.0.retry_after)
            .with_status(self.0.status)
            .with_request_id(self.0.request_id.clone())
    }

    /// The error and its causes, one after the other, for logs and people.
    pub fn chain(&self) -> String {
        let mut text = self.to_string();
        let mut source = self.source();
        while let Some(cause) = source {
            let cause_text = cause.to_string();
            if !text.contains(&cause_text) {
                text.push_str(": ");
                text.push_str(&cause_text);
            }
            source = cause.source();
        }
        text
    }

    /// Replaces what happened, in words.
    pub fn with_message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Overrides whether a retry may help.
    pub fn with_retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = Some(retryable);
        self
    }

    /// Adds the server's hint.
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// Adds the provider's name.
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.0.provider = Some(provider.into());
        self
    }

    /// Adds the model that was asked.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.0.model = Some(model.into());
        self
    }

    /// Adds the HTTP status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.0.status = Some(status);
        self
    }

    /// Adds useful headers.
    pub fn with_headers(mut self, headers: Vec<(String, String)>) -> Self {
        self.0.headers = headers;
        self
    }

    /// Adds the server's id of the request.
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.0.request_id = id.or(self.0.request_id);
        self
    }

    /// Adds the beginning of a body, cut to 500 bytes.
    pub fn with_body(mut self, body: &str) -> Self {
        let end = floor_boundary(body, EXCERPT);
        self.0.body_excerpt = Some(body[..end].to_owned());
        self
    }

    /// Adds what had arrived of the answer.
    pub fn with_partial(mut self, partial: Option<ChatResponse>) -> Self {
        self.0.partial = partial.or(self.0.partial);
        self
    }

    /// Adds the cause.
    pub fn with_source(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }
}

impl fmt::Display for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(provider) = &self.0.provider {
            write!(f, "{provider}: ")?;
        }
        f.write_str(&self.0.message)?;
        if let Some(status) = self.0.status {
            write!(f, " (HTTP {status})")?;
        }
        Ok(())
    }
}

impl fmt::Debug for LlmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// An error made of data again: what a journal or a cassette kept.
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
