//! The spans of requests, following OpenTelemetry's conventions for the Model Context Protocol.

use std::fmt;

use agcore_trace::{TraceContext, attribute, operation, set_parent};
use rmcp::{ErrorData, RoleServer, service::RequestContext};
use tracing::{Span, field::Empty};

/// Creates the span of a request. It is a child of the span of the client, if the client has sent a valid context: in `_meta`, or
/// in the headers of HTTP.
pub(super) fn request(method: &'static str, request: &RequestContext<RoleServer>) -> Span {
    let span = tracing::info_span!(
        "mcp_server",
        otel.name = method,
        otel.kind = "server",
        otel.status_code = Empty,
        error.type = Empty,
        mcp.method.name = method,
        gen_ai.operation.name = Empty,
        gen_ai.tool.name = Empty,
        network.transport = Empty,
    );
    if span.is_disabled() {
        return span;
    }
    let over_http = http_context(request);
    span.record(
        attribute::NETWORK_TRANSPORT,
        if over_http.is_some() { "tcp" } else { "pipe" },
    );
    let meta = &request.meta;
    let in_meta = TraceContext::from_headers(meta.get_traceparent(), meta.get_tracestate());
    if let Some(context) = in_meta.or(over_http.flatten()) {
        set_parent(&span, &context);
    }
    span
}

/// Records the tool of a call. Only the name of a tool that exists: others are texts of the client.
pub(super) fn calls(span: &Span, tool: &str) {
    span.record(attribute::OTEL_NAME, format!("tools/call {tool}"));
    span.record(attribute::OPERATION_NAME, operation::EXECUTE_TOOL);
    span.record(attribute::TOOL_NAME, tool);
}

/// Records the error of a request.
pub(super) fn failed(span: &Span, error: &ErrorData) {
    fail(span, &error.code.0);
}

/// Records that a tool has returned an error as its result.
pub(super) fn tool_failed(span: &Span) {
    fail(span, &"tool_error");
}

fn fail(span: &Span, kind: &dyn fmt::Display) {
    span.record(attribute::ERROR_TYPE, kind.to_string());
    span.record(attribute::OTEL_STATUS_CODE, "ERROR");
}

/// Returns the context in the headers of a request over HTTP; `None` for other transports.
#[cfg(feature = "server-http")]
fn http_context(request: &RequestContext<RoleServer>) -> Option<Option<TraceContext>> {
    let headers = &request.extensions.get::<http::request::Parts>()?.headers;
    Some(TraceContext::from_headers(
        headers.get_all("traceparent"),
        headers.get_all("tracestate"),
    ))
}

#[cfg(not(feature = "server-http"))]
fn http_context(_: &RequestContext<RoleServer>) -> Option<Option<TraceContext>> {
    None
}
