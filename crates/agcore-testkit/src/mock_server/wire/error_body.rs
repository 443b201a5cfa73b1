//! [`error_body`] and [`error_json`]: an [`ApiError`] rendered in an [`ErrorShape`].

use serde_json::{Map, Value, json};

use crate::mock_server::reply::{ApiError, ErrorParts, ErrorShape};

/// Renders the body of `error` in `shape`, including `request_id` if the format has a member for it.
pub(crate) fn error_body(error: &ApiError, shape: ErrorShape, request_id: &str) -> String {
    match shape {
        ErrorShape::Html => html(error.parts()),
        ErrorShape::PlainText => error.parts().message.clone(),
        ErrorShape::Empty => String::new(),
        ErrorShape::OpenAi
        | ErrorShape::Anthropic
        | ErrorShape::Ollama
        | ErrorShape::VllmFlat
        | ErrorShape::LiteLlm
        | ErrorShape::Gemini
        | ErrorShape::GeminiArray
        | ErrorShape::Bedrock
        | ErrorShape::FastApiDetail
        | ErrorShape::CodeAndError
        | ErrorShape::BareString => error_json(error, shape, request_id).to_string(),
    }
}

/// Renders `error` as JSON. Returns `Null` for formats that are not JSON.
pub(crate) fn error_json(error: &ApiError, shape: ErrorShape, request_id: &str) -> Value {
    let error = error.parts();
    let message = &error.message;
    match shape {
        ErrorShape::OpenAi => json!({ "error": openai(error, json!(error.code)) }),
        ErrorShape::LiteLlm => json!({ "error": openai(error, json!(error.status.to_string())) }),
        ErrorShape::Anthropic => json!({
            "type": "error",
            "error": { "type": kind_or(error, anthropic_kind), "message": message },
            "request_id": request_id,
        }),
        ErrorShape::Ollama => json!({ "error": message }),
        ErrorShape::VllmFlat => json!({
            "object": "error", "message": message, "type": kind_or(error, vllm_kind), "param": error.param,
            "code": error.status,
        }),
        ErrorShape::Gemini => json!({ "error": with_reason(gemini(error), error) }),
        ErrorShape::GeminiArray => json!([{ "error": gemini(error) }]),
        ErrorShape::Bedrock => json!({ "message": message }),
        ErrorShape::FastApiDetail => json!({
            "detail": [{
                "loc": ["body", error.param.as_deref().unwrap_or("messages")], "msg": message,
                "type": error.kind.as_deref().unwrap_or("value_error"),
            }]
        }),
        ErrorShape::CodeAndError => {
            json!({ "code": error.code.as_deref().unwrap_or(message), "error": message })
        }
        ErrorShape::BareString => json!(message),
        ErrorShape::Html | ErrorShape::PlainText | ErrorShape::Empty => Value::Null,
    }
}

/// Returns the header that belongs to a format: Amazon's errors are named by one.
pub(crate) fn error_header(error: &ApiError, shape: ErrorShape) -> Option<(&'static str, String)> {
    let name = || {
        format!(
            "{}:http://internal.amazon.com/coral/com.amazon.bedrock/",
            bedrock_name(error.parts())
        )
    };
    (shape == ErrorShape::Bedrock).then(|| ("x-amzn-errortype", name()))
}

/// Returns the name of an error in the middle of a stream of Bedrock, and its body.
pub(super) fn bedrock_exception(error: &ApiError) -> (String, Value) {
    let name = bedrock_name(error.parts());
    let (first, rest) = name.split_at(name.chars().next().map_or(0, char::len_utf8));
    let name = first.to_ascii_lowercase() + rest;
    (name, error_json(error, ErrorShape::Bedrock, ""))
}

fn openai(error: &ErrorParts, code: Value) -> Value {
    json!({
        "message": error.message, "type": kind_or(error, openai_kind), "param": error.param, "code": code,
    })
}

/// Renders a `google.rpc.Status`, with a `RetryInfo` if there is a retry delay.
fn gemini(error: &ErrorParts) -> Value {
    let mut status = Map::new();
    status.insert("code".into(), json!(error.status));
    status.insert("message".into(), json!(error.message));
    status.insert("status".into(), json!(kind_or(error, google_status)));
    if let Some(delay) = &error.retry_delay {
        let info = json!({ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay });
        status.insert("details".into(), json!([info]));
    }
    Value::Object(status)
}

/// Adds the code of an error as the reason of a `google.rpc.ErrorInfo`.
fn with_reason(mut status: Value, error: &ErrorParts) -> Value {
    if let Some(code) = &error.code {
        let info = json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": code });
        match &mut status["details"] {
            Value::Array(details) => details.push(info),
            details => *details = json!([info]),
        }
    }
    status
}

fn html(error: &ErrorParts) -> String {
    let (status, message) = (error.status, &error.message);
    format!(
        "<html>\r\n<head><title>{status}</title></head>\r\n<body><center><h1>{status}</h1></center>\
         <p>{message}</p></body>\r\n</html>\r\n"
    )
}

fn kind_or(error: &ErrorParts, default: fn(u16) -> &'static str) -> &str {
    error.kind.as_deref().unwrap_or_else(|| default(error.status))
}

fn openai_kind(status: u16) -> &'static str {
    match status {
        429 => "requests",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

/// Returns the error type that Anthropic documents for a status (docs.anthropic.com, "Errors").
fn anthropic_kind(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

/// Returns the name of an error of Bedrock (docs.aws.amazon.com, "Converse", errors).
fn bedrock_name(error: &ErrorParts) -> &str {
    let by_status = |status| match status {
        401 | 403 => "AccessDeniedException",
        404 => "ResourceNotFoundException",
        408 => "ModelTimeoutException",
        424 => "ModelErrorException",
        429 => "ThrottlingException",
        503 | 529 => "ServiceUnavailableException",
        500.. => "InternalServerException",
        _ => "ValidationException",
    };
    let own = error.kind.as_deref().filter(|kind| kind.ends_with("Exception"));
    own.unwrap_or_else(|| by_status(error.status))
}

fn vllm_kind(status: u16) -> &'static str {
    match status {
        404 => "NotFoundError",
        500.. => "InternalServerError",
        _ => "BadRequestError",
    }
}

/// Returns the name of the `google.rpc.Code` that corresponds to an HTTP status.
fn google_status(status: u16) -> &'static str {
    match status {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "FAILED_PRECONDITION",
    }
}
