//! Spans of requests and runs, following OpenTelemetry's conventions.
//!
//! Attribute names of HTTP: <https://opentelemetry.io/docs/specs/semconv/http/http-spans/>.

use agcore_chat::Actor;
use agcore_trace::{TraceContext, attribute, set_parent};
use http::{HeaderMap, Method};
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
    span.record(attribute::TENANT, &*actor.tenant);
    span.record(attribute::USER, &*actor.user);
}

/// Records which administrator has sent the current request, and the tenant that it is about.
pub(crate) fn sent_by_administrator(name: &str, tenant: Option<&str>) {
    let span = Span::current();
    span.record(attribute::ADMINISTRATOR, name);
    if let Some(tenant) = tenant {
        span.record(attribute::TENANT, tenant);
    }
}

/// Records the thread that the current request is about.
pub(crate) fn is_about_thread(thread: &str) {
    Span::current().record(attribute::CONVERSATION_ID, thread);
}

/// Records the run that the current request is about.
pub(crate) fn is_about_run(run: &str) {
    Span::current().record(attribute::RUN_ID, run);
}

/// Records the status of an answer. Only errors of the server are failures.
pub(crate) fn answered(span: &Span, status: u16) {
    span.record(attribute::HTTP_RESPONSE_STATUS_CODE, i64::from(status));
    if status >= 500 {
        span.record(attribute::ERROR_TYPE, status.to_string());
        span.record(attribute::OTEL_STATUS_CODE, "ERROR");
    }
}

/// Makes a request part of the trace of its client, if the headers have a valid context. Others are ignored, as the
/// specification demands, and so is baggage.
pub(crate) fn continue_trace(span: &Span, headers: &HeaderMap) {
    let context = TraceContext::from_headers(headers.get_all("traceparent"), headers.get_all("tracestate"));
    if let Some(context) = context {
        set_parent(span, &context);
    }
}

/// Creates the span of the part of a run that this process executes. It contains the turns of agents. In the trace, it is a child
/// of the request that has started the run.
pub(crate) fn run(job: &RunJob, trace: Option<&TraceContext>) -> Span {
    let span = tracing::info_span!(
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
    );
    if let Some(trace) = trace {
        set_parent(&span, trace);
    }
    span
}

/// Creates the span of a message to a webhook about a run.
pub(crate) fn webhook(run: Option<&str>) -> Span {
    tracing::info_span!(
        "webhook",
        otel.name = "POST webhook",
        otel.kind = "client",
        otel.status_code = Empty,
        error.type = Empty,
        http.request.method = "POST",
        http.response.status_code = Empty,
        agcore.run.id = run,
    )
}

/// Records the status of the answer of a receiver; `None` if there was none.
pub(crate) fn delivered(span: &Span, status: Option<u16>, is_success: bool) {
    if let Some(status) = status {
        span.record(attribute::HTTP_RESPONSE_STATUS_CODE, i64::from(status));
    }
    if !is_success {
        let kind = status.map_or("_OTHER".to_owned(), |status| status.to_string());
        span.record(attribute::ERROR_TYPE, kind);
        span.record(attribute::OTEL_STATUS_CODE, "ERROR");
    }
}

/// Records how a run has ended.
pub(crate) fn ended(span: &Span, outcome: &'static str) {
    span.record(attribute::RUN_OUTCOME, outcome);
    if outcome == "failed" {
        span.record(attribute::ERROR_TYPE, outcome);
        span.record(attribute::OTEL_STATUS_CODE, "ERROR");
    }
}
