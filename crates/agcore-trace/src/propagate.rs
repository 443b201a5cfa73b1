//! The context of spans, which other processes continue.

use tracing::Span;

use crate::context::TraceContext;

/// Whether this build can read and set the context of spans: that of the feature `otel`.
pub const CAN_PROPAGATE: bool = cfg!(feature = "otel");

/// Makes a span in another process the parent of a span. Must be called before the span is entered; later, and if the span is not
/// collected, this does nothing.
pub fn set_parent(span: &Span, parent: &TraceContext) {
    otel::set_parent(span, parent);
}

/// Returns the context of a span; `None` if no program collects spans of OpenTelemetry, or if the feature `otel` is off.
pub fn context_of(span: &Span) -> Option<TraceContext> {
    otel::context_of(span)
}

/// Returns the context of the current span, as [`context_of`] does.
pub fn current() -> Option<TraceContext> {
    context_of(&Span::current())
}

#[cfg(feature = "otel")]
mod otel {
    use opentelemetry::{
        Context,
        trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState},
    };
    use tracing::Span;
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    use crate::context::TraceContext;

    pub(super) fn set_parent(span: &Span, parent: &TraceContext) {
        let state = parent.tracestate().and_then(|text| text.parse::<TraceState>().ok());
        let remote = SpanContext::new(
            TraceId::from_bytes(parent.trace_id()),
            SpanId::from_bytes(parent.span_id()),
            TraceFlags::new(u8::from(parent.is_sampled())),
            true,
            state.unwrap_or_default(),
        );
        // The span is not collected, or is entered already.
        let _ = span.set_parent(Context::new().with_remote_span_context(remote));
    }

    pub(super) fn context_of(span: &Span) -> Option<TraceContext> {
        if span.is_disabled() {
            return None;
        }
        let context = span.context();
        let span = context.span();
        let found = span.span_context();
        let own = TraceContext::new(
            found.trace_id().to_bytes(),
            found.span_id().to_bytes(),
            found.trace_flags().is_sampled(),
        )?;
        Some(own.with_tracestate(&found.trace_state().header()))
    }
}

#[cfg(not(feature = "otel"))]
mod otel {
    use tracing::Span;

    use crate::context::TraceContext;

    pub(super) fn set_parent(_: &Span, _: &TraceContext) {}

    pub(super) fn context_of(_: &Span) -> Option<TraceContext> {
        None
    }
}
