//! The context of spans that OpenTelemetry collects.

use agcore_trace::{CAN_PROPAGATE, TraceContext, context_of, current, record_list, set_parent};
use opentelemetry_sdk::trace::SdkTracerProvider;
use tracing_subscriber::layer::SubscriberExt;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

fn collected<T>(work: impl FnOnce() -> T) -> T {
    use opentelemetry::trace::TracerProvider as _;

    let provider = SdkTracerProvider::builder().build();
    let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work)
}

#[test]
fn a_span_continues_the_trace_of_its_parent() {
    let remote = TraceContext::parse(PARENT).unwrap().with_tracestate("vendor=1");
    collected(|| {
        let span = tracing::info_span!("request");
        set_parent(&span, &remote);
        let inner = span.in_scope(|| {
            record_list(&span, "list", &["a"]);
            current().unwrap()
        });
        assert_eq!(inner.trace_id(), remote.trace_id());
        assert_ne!(inner.span_id(), remote.span_id());
        assert_eq!(inner.tracestate(), Some("vendor=1"));
        assert_eq!(context_of(&span), Some(inner));
        // Too late, because the span has started. It is ignored.
        set_parent(&span, &TraceContext::new([7; 16], [7; 8], true).unwrap());
        assert_eq!(context_of(&span).unwrap().trace_id(), remote.trace_id());
    });
    const { assert!(CAN_PROPAGATE) };
}

#[test]
fn without_a_collector_there_is_no_context() {
    let remote = TraceContext::parse(PARENT).unwrap();
    let check = || {
        let span = tracing::info_span!("request");
        set_parent(&span, &remote);
        span.in_scope(|| assert_eq!((current(), context_of(&span)), (None, None)));
    };
    check();
    tracing::subscriber::with_default(tracing_subscriber::registry(), check);
}
