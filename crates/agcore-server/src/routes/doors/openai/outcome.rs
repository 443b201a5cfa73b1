//! Answers of requests whose run was started and has not succeeded.

use agcore_openai::ApiError;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};

use super::conversation::IDEMPOTENCY_KEY;
use crate::problem::Problem;

/// Prevents that official clients send a request again whose run has ended: they would start another one.
const SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Returns the answer of a problem that came after a run was started. Without a key that makes a repeated request the same run, no
/// client may repeat it on its own.
pub(super) fn started_problem(problem: Problem, headers: &HeaderMap) -> Response {
    match headers.contains_key(IDEMPOTENCY_KEY) {
        true => problem.into_response(),
        false => final_error(&problem.to_api_error()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::ProblemCode;

    #[test]
    fn only_a_request_with_a_key_is_repeated_after_the_start() {
        let answer = |headers: &HeaderMap| {
            let problem = Problem::new(ProblemCode::StoreUnavailable, "the database cannot be used");
            let response = started_problem(problem, headers);
            (
                response.status().as_u16(),
                response.headers().get(SHOULD_RETRY).cloned(),
            )
        };
        let mut headers = HeaderMap::new();
        assert_eq!(answer(&headers), (503, Some(HeaderValue::from_static("false"))));
        headers.insert(IDEMPOTENCY_KEY, HeaderValue::from_static("key"));
        assert_eq!(answer(&headers), (503, None));
    }
}
