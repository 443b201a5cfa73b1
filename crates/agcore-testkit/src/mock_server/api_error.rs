//! An error of a model server, free of any vendor's shape.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::error_shape::ErrorShape;

/// An error reply: a status, what went wrong, and hints when to try again. Each wire renders it in its vendor's shape
/// unless another [`ErrorShape`] is asked for.
///
/// In a script it is an object: `{"status": 429, "retry_after": "2", "code": "rate_limit_exceeded"}`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "Written")]
pub struct ApiError {
    parts: Box<Parts>,
}

/// What an error consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parts {
    pub(crate) status: u16,
    pub(crate) message: String,
    pub(crate) kind: Option<String>,
    pub(crate) code: Option<String>,
    pub(crate) param: Option<String>,
    pub(crate) retry_delay: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) shape: Option<ErrorShape>,
}

impl ApiError {
    /// An error with the message, type and code that are usual for `status`.
    pub fn new(status: u16) -> Self {
        let (code, message) = usual(status);
        let parts = Parts {
            status,
            message: message.to_owned(),
            kind: None,
            code: code.map(str::to_owned),
            param: None,
            retry_delay: None,
            headers: Vec::new(),
            shape: None,
        };
        Self { parts: Box::new(parts) }
    }

    /// 429 because money or allowance is used up, not because of speed.
    pub fn quota() -> Self {
        Self::new(429)
            .with_kind("insufficient_quota")
            .with_code("insufficient_quota")
            .with_message("You exceeded your current quota, please check your plan and billing details.")
    }

    /// 400 because the prompt has `asked` tokens and the model takes `limit`.
    pub fn context_length(limit: u64, asked: u64) -> Self {
        Self::new(400).with_code("context_length_exceeded").with_param("messages").with_message(format!(
            "This model's maximum context length is {limit} tokens. However, your messages resulted in {asked} tokens."
        ))
    }

    /// 404 for a model that the server does not have.
    pub fn model_not_found(model: &str) -> Self {
        Self::new(404).with_code("model_not_found").with_message(format!(
            "The model `{model}` does not exist or you do not have access to it."
        ))
    }

    /// Says what happened.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.parts.message = message.into();
        self
    }

    /// Fixes the member `type` (or its like), on whatever wire.
    #[must_use]
    pub fn with_kind(mut self, kind: impl Into<String>) -> Self {
        self.parts.kind = Some(kind.into());
        self
    }

    /// Fixes the member `code`.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.parts.code = Some(code.into());
        self
    }

    /// Leaves the member `code` null.
    #[must_use]
    pub fn without_code(mut self) -> Self {
        self.parts.code = None;
        self
    }

    /// Names the parameter at fault.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<String>) -> Self {
        self.parts.param = Some(param.into());
        self
    }

    /// Adds a response header.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parts.headers.push((name.into(), value.into()));
        self
    }

    /// `Retry-After` as it stands: seconds (`"2"`) or an HTTP date.
    #[must_use]
    pub fn with_retry_after(self, value: impl Into<String>) -> Self {
        self.with_header("retry-after", value)
    }

    /// `retry-after-ms`, which OpenAI and Azure send beside `Retry-After`.
    #[must_use]
    pub fn with_retry_after_ms(self, millis: u64) -> Self {
        self.with_header("retry-after-ms", millis.to_string())
    }

    /// The delay in the body's details, as Gemini's `"34.4s"`; only [`ErrorShape::GeminiArray`] has a place for it.
    #[must_use]
    pub fn with_retry_delay(mut self, delay: impl Into<String>) -> Self {
        self.parts.retry_delay = Some(delay.into());
        self
    }

    /// Renders the body in this shape whatever the wire.
    #[must_use]
    pub fn with_shape(mut self, shape: ErrorShape) -> Self {
        self.parts.shape = Some(shape);
        self
    }

    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.parts.status
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }
}

/// The code that OpenAI gives with a status, and a message.
fn usual(status: u16) -> (Option<&'static str>, &'static str) {
    match status {
        400 => (None, "The request is not valid."),
        401 => (Some("invalid_api_key"), "Incorrect API key provided."),
        402 => (Some("insufficient_balance"), "Insufficient balance."),
        403 => (
            Some("permission_denied"),
            "The key has no permission for this resource.",
        ),
        404 => (None, "There is nothing at this address."),
        405 => (None, "The method is not allowed here."),
        408 => (None, "The request timed out."),
        413 => (None, "The request is too large."),
        429 => (Some("rate_limit_exceeded"), "Rate limit reached. Please slow down."),
        500 => (None, "The server had an error while processing the request."),
        502 => (None, "Bad gateway."),
        503 => (None, "The engine is currently overloaded, please try again later."),
        504 => (None, "The gateway timed out."),
        529 => (None, "Overloaded"),
        _ => (None, "The request failed."),
    }
}

/// The error as a script writes it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    status: u16,
    message: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    param: Option<String>,
    retry_after: Option<String>,
    retry_after_ms: Option<u64>,
    retry_delay: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    shape: Option<ErrorShape>,
}

impl From<Written> for ApiError {
    fn from(written: Written) -> Self {
        let mut error = Self::new(written.status);
        let parts = &mut *error.parts;
        parts.message = written.message.unwrap_or_else(|| std::mem::take(&mut parts.message));
        parts.code = written.code.or_else(|| parts.code.take());
        parts.kind = written.kind;
        parts.param = written.param;
        parts.retry_delay = written.retry_delay;
        parts.shape = written.shape;
        parts.headers = written.headers.into_iter().collect();
        if let Some(value) = written.retry_after {
            error = error.with_retry_after(value);
        }
        match written.retry_after_ms {
            Some(millis) => error.with_retry_after_ms(millis),
            None => error,
        }
    }
}
