//! [`Audit`]: records how calls end.

use std::{fmt, sync::Arc, time::Duration};

use super::invoke::{Invoke, PreparedCall};
use crate::{
    audit::{AuditEvent, AuditRecord, AuditSink, record},
    error::{ToolError, ToolErrorKind},
    output::ToolOutput,
};

/// A layer that records the end of each call in an [`AuditSink`], including calls that are dropped while they run.
///
/// The decision whether a call may run is not recorded here, but before the layers are entered. A sink that panics has
/// no effect on the result, because the call has already run.
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
        let mut end = End {
            call,
            sink: &*self.sink,
            start: call.context.clock().monotonic(),
            // Holds unless the call ends in another way.
            error: Some(ToolErrorKind::Cancelled),
        };
        let result = self.inner.invoke(call).await;
        end.error = result.as_ref().err().map(ToolError::kind);
        result
    }
}

/// Records the end of a call on drop.
struct End<'a> {
    call: &'a PreparedCall,
    sink: &'a dyn AuditSink,
    start: Duration,
    error: Option<ToolErrorKind>,
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        let PreparedCall {
            tool,
            arguments,
            context,
            ..
        } = self.call;
        let panicked = std::thread::panicking().then_some(ToolErrorKind::ExecutionFailed);
        let event = AuditEvent::Finished {
            error: panicked.or(self.error),
            duration: context.worked_since(self.start),
        };
        record(
            self.sink,
            &AuditRecord::new(context, context.call_id(), tool.name(), arguments, event),
        );
    }
}

impl<S> fmt::Debug for Audit<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit").finish_non_exhaustive()
    }
}
