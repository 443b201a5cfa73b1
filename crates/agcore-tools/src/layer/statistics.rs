//! [`Statistics`]: counts calls in the statistics of their tool.

use super::invoke::{Invoke, PreparedCall};
use crate::{error::ToolError, output::ToolOutput};

/// A layer that adds the calls, failures and durations to the [statistics](crate::ToolStatistics) of each tool. A call
/// that is dropped before it ends is not counted.
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

impl<S: Invoke> Invoke for Statistics<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let start = call.context.clock().monotonic();
        let result = self.inner.invoke(call).await;
        call.tool.stats().add(call.context.worked_since(start), result.is_err());
        result
    }
}
