//! [`TraceContent`]: records arguments and results in spans.

use std::fmt;

use agcore_chat::redact::{KeyRedactor, redact_json};
use agcore_trace::attribute;
use serde_json::Value;
use tracing::{Span, field::display};

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
};

/// A layer that records the arguments and the result of a call in its span, as `gen_ai.tool.call.arguments` and
/// `gen_ai.tool.call.result`: JSON text without the keys that [`KeyRedactor`] recognizes. Content of conversations is the data of
/// users: without this layer, spans have none.
///
/// Added last, it records the result that [`Redact`](super::Redact) has changed. Images, files and streams are not recorded.
#[derive(Clone)]
pub struct TraceContent<S> {
    inner: S,
}

impl<S> TraceContent<S> {
    /// Wraps `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: Invoke> Invoke for TraceContent<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        // The span of the call: nothing between it and the layers creates another one.
        let span = Span::current();
        record(&span, attribute::TOOL_CALL_ARGUMENTS, call.arguments.as_value());
        let result = self.inner.invoke(call).await;
        if let Ok(output) = &result {
            match &output.body {
                OutputBody::Value(value) => record(&span, attribute::TOOL_CALL_RESULT, value),
                OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. } => {
                    record(&span, attribute::TOOL_CALL_RESULT, &Value::from(&*content.text()));
                }
                _ => {}
            }
        }
        result
    }
}

fn record(span: &Span, name: &'static str, value: &Value) {
    if !span.is_disabled() {
        let mut value = value.clone();
        redact_json(&KeyRedactor, &mut value);
        span.record(name, display(value));
    }
}

impl<S> fmt::Debug for TraceContent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceContent").finish_non_exhaustive()
    }
}
