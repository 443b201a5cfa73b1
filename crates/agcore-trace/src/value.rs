//! Values of attributes with the types that OpenTelemetry's conventions demand: `int` and `string[]`.

use tracing::Span;

/// Returns a count as an integer attribute. `tracing-opentelemetry` exports every `u64` as text.
pub fn integer(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// Records a list of strings: as a list in a span that OpenTelemetry collects, otherwise as text such as `["stop"]`.
pub fn record_list(span: &Span, name: &'static str, values: &[&str]) {
    if !export_list(span, name, values) {
        span.record(name, tracing::field::debug(values));
    }
}

/// Adds a list to the span of OpenTelemetry. Returns `false` if nothing collects such spans here.
#[cfg(feature = "otel")]
fn export_list(span: &Span, name: &'static str, values: &[&str]) -> bool {
    use opentelemetry::{Array, StringValue, Value, trace::TraceContextExt};
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    if !span.context().span().span_context().is_valid() {
        return false;
    }
    let values = values.iter().map(|value| StringValue::from((*value).to_owned()));
    span.set_attribute(name, Value::Array(Array::String(values.collect())));
    true
}

#[cfg(not(feature = "otel"))]
fn export_list(_: &Span, _: &'static str, _: &[&str]) -> bool {
    false
}
