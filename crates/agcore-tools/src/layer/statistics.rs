//! [`Statistics`]: counts calls at their tool.

use super::invoke::{Invoke, Layer, PreparedCall};
use crate::{error::ToolError, output::ToolOutput};

/// Adds [`Statistics`].
#[derive(Debug, Clone, Copy, Default)]
pub struct StatisticsLayer;

impl<S: Invoke> Layer<S> for StatisticsLayer {
    type Invoke = Statistics<S>;

    fn layer(&self, inner: S) -> Statistics<S> {
        Statistics { inner }
    }
}

/// Counts calls, failures and durations at their tool; a call that is given up is not counted.
#[derive(Debug, Clone)]
pub struct Statistics<S> {
    inner: S,
}

impl<S: Invoke> Invoke for Statistics<S> {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        let start = call.context.clock().monotonic();
        let result = self.inner.invoke(call).await;
        call.tool.stats().add(call.context.worked_since(start), result.is_err());
        result
    }
}
