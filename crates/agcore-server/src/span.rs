//! Spans of requests and runs, following OpenTelemetry's conventions.
//!
//! Attribute names of HTTP: <https://opentelemetry.io/docs/specs/semconv/http/http-spans/>.

use http::Method;
use tracing::{Span, field::Empty};

use crate::run::RunJob;

/// Creates the span of a request. It ends with the head of the answer: a stream may continue for hours.
pub(crate) fn request(method: &Method, route: Option<&str>) -> Span {
    let is_known = matches!(
        method.as_str(),
        "GET" | "POST" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD"
    );
    let method = if is_known { method.as_str() } else { "_OTHER" };
    tracing::info_span!(
        "http_request",
        otel.name = format!("{method} {}", route.unwrap_or_default()).trim_end(),
        otel.kind = "server",
        otel.status_code = Empty,
        error.type = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    )
}

/// Records the status of an answer. Only errors of the server are failures.
pub(crate) fn answered(span: &Span, status: u16) {
    span.record("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.record("error.type", status.to_string());
        span.record("otel.status_code", "ERROR");
    }
}

/// Creates the span of the part of a run that this process executes. It contains the turns of agents.
pub(crate) fn run(job: &RunJob) -> Span {
    tracing::info_span!(
        "run",
        otel.name = "run",
        otel.kind = "internal",
        otel.status_code = Empty,
        error.type = Empty,
        gen_ai.conversation.id = job.thread,
        agcore.run.id = job.run,
        agcore.run.outcome = Empty,
    )
}

/// Records how a run has ended.
pub(crate) fn ended(span: &Span, outcome: &'static str) {
    span.record("agcore.run.outcome", outcome);
    if outcome == "failed" {
        span.record("error.type", outcome);
        span.record("otel.status_code", "ERROR");
    }
}
