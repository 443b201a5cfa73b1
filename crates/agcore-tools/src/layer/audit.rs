//! [`Audit`]: tells the audit sink how calls ended.

use std::{fmt, sync::Arc};

use super::invoke::{Invoke, Layer, PreparedCall};
use crate::{
    audit::{AuditEvent, AuditRecord, AuditSink},
    error::ToolError,
    output::ToolOutput,
};

/// Adds an [`Audit`].
#[derive(Clone)]
pub struct AuditLayer {
    sink: Arc<dyn AuditSink>,
}

impl AuditLayer {
    /// Tells this sink.
    pub fn new(sink: Arc<dyn AuditSink>) -> Self {
        Self { sink }
    }
}

impl<S: Invoke> Layer<S> for AuditLayer {
    type Invoke = Audit<S>;

    fn layer(&self, inner: S) -> Audit<S> {
        Audit {
            inner,
            sink: Arc::clone(&self.sink),
        }
    }
}

impl fmt::Debug for AuditLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditLayer")
    }
}

/// Tells the audit sink how calls ended.
#[derive(Clone)]
pub struct Audit<S> {
    inner: S,
    sink: Arc<dyn AuditSink>,
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
        f.write_str("Audit")
    }
}
