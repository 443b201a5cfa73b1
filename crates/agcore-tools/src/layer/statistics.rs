//! [`Statistics`]: counts calls in the statistics of their tool.

use std::time::Duration;

use super::invoke::{Invoke, PreparedCall};
use crate::{error::ToolError, output::ToolOutput, panic::catch_panic};

/// A layer that adds the calls, failures and durations to the [statistics](crate::ToolStatistics) of each tool. A panic of
/// the layers inside is a failure. A call that is dropped before it ends is not counted.
#[derive(Debug, Clone)]
pub struct Statistics<S> {
    inner: S,
}

impl<S> Statistics<S> {
    /// Wraps `inner`.
    pub fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: Invoke> Statistics<S> {
    /// Runs a call. Returns how long it took, too.
    pub(crate) async fn measure(&self, call: &PreparedCall) -> (Result<ToolOutput, ToolError>, Duration) {
        let start = call.context.clock().monotonic();
        // Catches panics of the layers. Those of the tool are caught further in, where the layers see them as errors.
        let result = catch_panic(call.tool.name(), self.inner.invoke(call)).await;
        let result = result.and_then(|result| result);
        let duration = call.context.worked_since(start);
        call.tool.stats().add(duration, result.is_err());
        (result, duration)
    }
}

impl<S: Invoke> Invoke for Statistics<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        self.measure(call).await.0
    }
}
