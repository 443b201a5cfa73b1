//! [`observe`]: the id, the span and the number of each request, and what every answer has.

use std::sync::Arc;

use axum::{
    body::Body,
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use tracing::Instrument;

use crate::{openapi::is_openai, problem::Problem, service::App, telemetry::span};

/// The header with the id of a request, in both directions.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that a client can choose, in bytes.
const MAX_ID: usize = 128;

/// Counts a request by its route and status, in a span with its id. The answer has the id, too, so that what users report can be
/// found in the log.
pub(super) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let route = route.as_ref().map(MatchedPath::as_str);
    let id = given_id(request.headers()).unwrap_or_else(|| app.service.new_id("req"));
    let span = span::request(&method, route, &id);
    // Nothing is read for a span that cannot continue the trace.
    if agcore_trace::CAN_PROPAGATE && !span.is_disabled() {
        span::continue_trace(&span, request.headers());
    }
    let is_openai = is_openai(request.uri().path());
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status().as_u16();
    span::answered(&span, status);
    app.service.metrics.request(&method, route, status);
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let body = match is_openai {
            true => {
                let kind = HeaderValue::from_static("application/json");
                response.headers_mut().insert(header::CONTENT_TYPE, kind);
                problem.to_api_error().to_value().to_string().into_bytes()
            }
            false => problem.to_json(Some(id.clone())),
        };
        *response.body_mut() = Body::from(body);
        response.headers_mut().remove(header::CONTENT_LENGTH);
    }
    add_headers(response.headers_mut(), &id);
    response
}

/// Returns the id that the client, or a proxy before the server, has given to a request.
fn given_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=".contains(&byte);
    (!id.is_empty() && id.len() <= MAX_ID && id.bytes().all(is_plain)).then(|| id.to_owned())
}

fn add_headers(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Answers are for one user. Behind a proxy that authenticates, nothing in the request would show that to caches.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(id: &str, expected: Option<&str>) {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_bytes(id.as_bytes()).unwrap());
        assert_eq!(given_id(&headers).as_deref(), expected, "{id}");
    }

    #[test]
    fn only_plain_ids_are_taken_from_clients() {
        check("7d0c-4_a:1", Some("7d0c-4_a:1"));
        check(&"a".repeat(MAX_ID), Some(&"a".repeat(MAX_ID)));
        for id in ["", "a b", "a\tb", "é", "a\"b", "<a>", &"a".repeat(MAX_ID + 1)] {
            check(id, None);
        }
        assert_eq!(given_id(&HeaderMap::new()), None);
    }
}
