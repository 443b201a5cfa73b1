//! Spans of requests and runs, following OpenTelemetry's conventions.
//!
//! Attribute names of HTTP: <https://opentelemetry.io/docs/specs/semconv/http/http-spans/>.

use agcore_chat::Actor;
use http::Method;
use tracing::{Level, Span, field::Empty};

use crate::run::RunJob;

/// Creates the span of a request. It ends with the head of the answer: a stream may continue for hours.
/// Those of probes do not interest readers of the log.
pub(crate) fn request(method: &Method, route: Option<&str>, id: &str) -> Span {
    let is_known = matches!(
        method.as_str(),
        "GET" | "POST" | "PATCH" | "DELETE" | "OPTIONS" | "HEAD"
    );
    let method = if is_known { method.as_str() } else { "_OTHER" };
    let name = format!("{method} {}", route.unwrap_or_default());
    macro_rules! span {
        ($level:expr) => {
            tracing::span!(
                $level,
                "http_request",
                otel.name = name.trim_end(),
                otel.kind = "server",
                otel.status_code = Empty,
                error.type = Empty,
                http.request.method = method,
                http.route = route,
                http.response.status_code = Empty,
                agcore.request.id = id,
                agcore.tenant = Empty,
                agcore.user = Empty,
                agcore.administrator = Empty,
                gen_ai.conversation.id = Empty,
                agcore.run.id = Empty,
            )
        };
    }
    match route {
        Some("/health" | "/ready" | "/metrics") => span!(Level::DEBUG),
        _ => span!(Level::INFO),
    }
}

/// Records who has sent the current request.
pub(crate) fn sent_by(actor: &Actor) {
    let span = Span::current();
    span.record("agcore.tenant", &*actor.tenant);
    span.record("agcore.user", &*actor.user);
}

/// Records which administrator has sent the current request, and the tenant that it is about.
pub(crate) fn sent_by_administrator(name: &str, tenant: Option<&str>) {
    let span = Span::current();
    span.record("agcore.administrator", name);
    if let Some(tenant) = tenant {
        span.record("agcore.tenant", tenant);
    }
}

/// Records the thread that the current request is about.
pub(crate) fn is_about_thread(thread: &str) {
    Span::current().record("gen_ai.conversation.id", thread);
}

/// Records the run that the current request is about.
pub(crate) fn is_about_run(run: &str) {
    Span::current().record("agcore.run.id", run);
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
        agcore.tenant = &*job.actor.tenant,
        agcore.user = &*job.actor.user,
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
