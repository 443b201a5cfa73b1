//! Answers of runs that have not succeeded.

use agcore_openai::{ApiError, Outcome};
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};

/// Prevents that official clients send a request again whose run has ended: they would start another one.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Returns the error of a run that has not succeeded.
pub(super) fn error_of(outcome: &Outcome) -> Option<ApiError> {
    match outcome {
        Outcome::Completed | Outcome::Waiting(_) => None,
        Outcome::Failed { code, message } => Some(ApiError::new(500, code, message)),
        _ => Some(ApiError::new(409, "run_canceled", "the run was cancelled")),
    }
}

/// Returns an error as an answer that no client repeats on its own.
pub(super) fn final_error(error: &ApiError) -> Response {
    let status = StatusCode::from_u16(error.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, error.to_value().to_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(SHOULD_RETRY, HeaderValue::from_static("false"));
    response
}
