//! [`Audit`]: records how calls end.

use std::{fmt, sync::Arc};

use super::invoke::{Invoke, PreparedCall};
use crate::{
    audit::{AuditEvent, AuditRecord, AuditSink},
    error::ToolError,
    output::ToolOutput,
};

/// A layer that records the end of each call in an [`AuditSink`].
///
/// Only the end: the decision whether a call may run is recorded before the layers are entered.
#[derive(Clone)]
pub struct Audit<S> {
    inner: S,
    sink: Arc<dyn AuditSink>,
}

impl<S> Audit<S> {
    /// Wraps `inner`.
    pub fn new(inner: S, sink: Arc<dyn AuditSink>) -> Self {
        Self { inner, sink }
    }
}

impl<S: Invoke> Invoke for Audit<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let start = call.context.clock().monotonic();
        let result = self.inner.invoke(call).await;
        let duration = call.context.worked_since(start);
        let event = AuditEvent::Finished {
            error: result.as_ref().err().map(ToolError::kind),
            duration,
        };
        self.sink.record(&AuditRecord::new(
            &call.context,
            call.tool.name(),
            &call.arguments,
            event,
        ));
        result
    }
}

impl<S> fmt::Debug for Audit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}
