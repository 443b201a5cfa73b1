//! [`ApiError`]: an error of a model server, independent of any vendor's format.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::mock_server::reply::ErrorShape;

/// An error reply: a status, a description of the error, and hints about when to retry. Each API renders it in its
/// vendor's format unless [`with_shape`](Self::with_shape) selects another one.
///
/// In a JSON script it is an object: `{"status": 429, "retry_after": "2", "code": "rate_limit_exceeded"}`.
///
/// ```
/// use agcore_testkit::mock_server::ApiError;
///
/// let error = ApiError::new(429).with_message("Slow down").with_retry_after("2");
/// assert_eq!(error.status(), 429);
/// assert_eq!(ApiError::context_length(8192, 9000).status(), 400);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(from = "JsonError")]
#[must_use]
pub struct ApiError {
    parts: Box<ErrorParts>,
}

/// The parts of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ErrorParts {
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
    /// Creates an error with the usual message, type and code for `status`.
    pub fn new(status: u16) -> Self {
        let (code, message) = default_code_and_message(status);
        let parts = ErrorParts {
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

    /// Creates a 429 error for an exhausted quota, as opposed to a rate limit.
    pub fn quota() -> Self {
        Self::new(429)
            .with_kind("insufficient_quota")
            .with_code("insufficient_quota")
            .with_message("You exceeded your current quota, please check your plan and billing details.")
    }

    /// Creates a 400 error for a prompt of `actual` tokens when the model accepts at most `limit`.
    pub fn context_length(limit: u64, actual: u64) -> Self {
        Self::new(400).with_code("context_length_exceeded").with_param("messages").with_message(format!(
            "This model's maximum context length is {limit} tokens. However, your messages resulted in {actual} tokens."
        ))
    }

    /// Creates a 404 error for an unknown model.
    pub fn model_not_found(model: &str) -> Self {
        Self::new(404).with_code("model_not_found").with_message(format!(
            "The model `{model}` does not exist or you do not have access to it."
        ))
    }

    /// Sets the message.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.parts.message = message.into();
        self
    }

    /// Sets the error type: the JSON member `type`, or its counterpart in the vendor's format.
    pub fn with_kind(mut self, kind: impl Into<String>) -> Self {
        self.parts.kind = Some(kind.into());
        self
    }

    /// Sets the JSON member `code`.
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.parts.code = Some(code.into());
        self
    }

    /// Sets the JSON member `code` to null.
    pub fn without_code(mut self) -> Self {
        self.parts.code = None;
        self
    }

    /// Sets the name of the invalid parameter.
    pub fn with_param(mut self, param: impl Into<String>) -> Self {
        self.parts.param = Some(param.into());
        self
    }

    /// Adds a response header.
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.parts.headers.push((name.into(), value.into()));
        self
    }

    /// Sets the `retry-after` header verbatim: seconds (`"2"`) or an HTTP date.
    pub fn with_retry_after(self, value: impl Into<String>) -> Self {
        self.with_header("retry-after", value)
    }

    /// Sets the `retry-after-ms` header, which OpenAI and Azure send in addition to `retry-after`.
    pub fn with_retry_after_ms(self, millis: u64) -> Self {
        self.with_header("retry-after-ms", millis.to_string())
    }

    /// Sets the retry delay in the details of the body, for example `"34.4s"`. Only [`ErrorShape::GeminiArray`]
    /// includes it.
    pub fn with_retry_delay(mut self, delay: impl Into<String>) -> Self {
        self.parts.retry_delay = Some(delay.into());
        self
    }

    /// Renders the body in this format, regardless of the API of the request.
    pub fn with_shape(mut self, shape: ErrorShape) -> Self {
        self.parts.shape = Some(shape);
        self
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.parts.status
    }

    pub(crate) fn parts(&self) -> &ErrorParts {
        &self.parts
    }
}

/// Returns the code that OpenAI sends with a status, and a message.
fn default_code_and_message(status: u16) -> (Option<&'static str>, &'static str) {
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

/// The JSON form of an error in a script.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "an error, as in {\"status\": 429}")]
struct JsonError {
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

impl From<JsonError> for ApiError {
    fn from(json: JsonError) -> Self {
        let mut error = Self::new(json.status);
        let parts = &mut *error.parts;
        parts.message = json.message.unwrap_or_else(|| std::mem::take(&mut parts.message));
        parts.code = json.code.or_else(|| parts.code.take());
        parts.kind = json.kind;
        parts.param = json.param;
        parts.retry_delay = json.retry_delay;
        parts.shape = json.shape;
        parts.headers = json.headers.into_iter().collect();
        if let Some(value) = json.retry_after {
            error = error.with_retry_after(value);
        }
        match json.retry_after_ms {
            Some(millis) => error.with_retry_after_ms(millis),
            None => error,
        }
    }
}
