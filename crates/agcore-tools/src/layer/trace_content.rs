//! [`TraceContent`]: records arguments and results in spans.

use std::fmt;

use agcore_chat::{
    redact::{KeyRedactor, redact_json},
    text::prefix,
};
use agcore_trace::attribute;
use serde_json::Value;
use tracing::Span;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
};

/// The longest attribute, in bytes.
const MAX_BYTES: usize = 64 * 1024;

/// A layer that records the arguments and the result of a call in its span, as `gen_ai.tool.call.arguments` and
/// `gen_ai.tool.call.result`: JSON text without the keys that [`KeyRedactor`] recognizes, cut after 64 KiB. Content of
/// conversations is the data of users: without this layer, spans have none.
///
/// An executor [adds](crate::ExecutorBuilder::with_trace_content) it outside of the layers that change results. The result is the
/// one that the model gets, or the text of the error, before hooks of the program see it. Images, files and streams are not
/// recorded.
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
        match result.as_ref().map(|output| &output.body) {
            Ok(OutputBody::Value(value)) => record(&span, attribute::TOOL_CALL_RESULT, value),
            Ok(OutputBody::Rich { content, .. } | OutputBody::Divert { content, .. }) => {
                record(&span, attribute::TOOL_CALL_RESULT, &Value::from(&*content.text()));
            }
            Ok(_) => {}
            Err(error) => record(&span, attribute::TOOL_CALL_RESULT, &Value::from(&*error.model_text())),
        }
        result
    }
}

fn record(span: &Span, name: &'static str, value: &Value) {
    if !span.is_disabled() {
        let mut value = value.clone();
        redact_json(&KeyRedactor, &mut value);
        // Collectors refuse values that are much longer, and a result can be as long as the executor permits.
        span.record(name, prefix(&value.to_string(), MAX_BYTES));
    }
}

impl<S> fmt::Debug for TraceContent<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceContent").finish_non_exhaustive()
    }
}
