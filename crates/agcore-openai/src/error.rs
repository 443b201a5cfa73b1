//! [`ApiError`]: an error in the shape of OpenAI.

use std::fmt;

use serde_json::{Value, json};

/// The class of an [`ApiError`], from which official clients choose their exception together with the status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorType {
    /// The request is not valid.
    InvalidRequest,
    /// The credentials are missing or wrong.
    Authentication,
    /// The credentials do not allow the request.
    Permission,
    /// There are too many requests, or a quota is used up.
    RateLimit,
    /// The server, or what it depends on, failed.
    Server,
}

impl ErrorType {
    /// Returns the name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidRequest => "invalid_request_error",
            Self::Authentication => "authentication_error",
            Self::Permission => "permission_error",
            Self::RateLimit => "rate_limit_error",
            Self::Server => "server_error",
        }
    }

    /// Returns the class of an HTTP status.
    ///
    /// ```
    /// use agcore_openai::ErrorType;
    ///
    /// assert_eq!(ErrorType::of_status(429), ErrorType::RateLimit);
    /// assert_eq!(ErrorType::of_status(404), ErrorType::InvalidRequest);
    /// ```
    pub const fn of_status(status: u16) -> Self {
        match status {
            401 => Self::Authentication,
            403 => Self::Permission,
            429 => Self::RateLimit,
            500.. => Self::Server,
            _ => Self::InvalidRequest,
        }
    }
}

impl fmt::Display for ErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// An error in the shape of OpenAI: `{"error": {"message", "type", "param", "code"}}`.
///
/// ```
/// use agcore_openai::{ApiError, ErrorType};
///
/// let error = ApiError::new(404, "model_not_found", "there is no agent `ada`").with_param("model");
/// assert_eq!(error.error_type(), ErrorType::InvalidRequest);
/// assert_eq!(
///     error.to_value().to_string(),
///     r#"{"error":{"message":"there is no agent `ada`","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    status: u16,
    code: String,
    message: String,
    param: Option<String>,
}

impl ApiError {
    /// Creates an error with an HTTP status, a stable code and a message for people.
    pub fn new(status: u16, code: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            status,
            code: code.into(),
            message: message.into(),
            param: None,
        }
    }

    /// Sets the member of the request that caused the error.
    #[must_use]
    pub fn with_param(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }

    /// Creates the error of a member with a wrong value.
    pub(crate) fn invalid(param: impl Into<String>, rule: impl fmt::Display) -> Self {
        let param = param.into();
        let message = match param.as_str() {
            "" => format!("the body {rule}"),
            param => format!("`{param}` {rule}"),
        };
        let error = Self::new(400, "invalid_value", message);
        match param.is_empty() {
            true => error,
            false => error.with_param(param),
        }
    }

    /// Creates the error of a member that has no meaning here, and must not be dropped silently.
    pub(crate) fn unsupported(param: &str, reason: &str) -> Self {
        let message = format!("`{param}` is not supported: {reason}");
        Self::new(400, "unsupported_parameter", message).with_param(param)
    }

    /// Creates the error of a body or a member that is too large.
    pub(crate) fn too_large(param: &str, message: String) -> Self {
        let error = Self::new(413, "body_too_large", message);
        match param.is_empty() {
            true => error,
            false => error.with_param(param),
        }
    }

    /// Returns the HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the stable code.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Returns the member of the request that caused the error.
    pub fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    /// Returns the class, which follows from the status.
    pub fn error_type(&self) -> ErrorType {
        ErrorType::of_status(self.status)
    }

    /// Returns the body of the answer.
    pub fn to_value(&self) -> Value {
        json!({"error": self.to_inner()})
    }

    /// Returns the error without the object around it.
    pub(crate) fn to_inner(&self) -> Value {
        json!({
            "message": self.message,
            "type": self.error_type().as_str(),
            "param": self.param,
            "code": self.code,
        })
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}
