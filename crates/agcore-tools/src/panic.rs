//! [`caught`]: no panic of a tool, or of anything else that was handed in, goes past its own call.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use crate::error::{ToolError, ToolErrorKind};

/// Awaits a future; its panic is an error of the tool.
pub(crate) async fn caught<F: Future>(tool: &str, future: F) -> Result<F::Output, ToolError> {
    AssertUnwindSafe(future).catch_unwind().await.map_err(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("no message");
        tracing::error!(tool, panic = said, "a tool panicked");
        ToolError::new(ToolErrorKind::ExecutionFailed, format!("{tool} panicked: {said}")).with_model_text(format!(
            "{tool} failed because of a fault in the tool itself; go on without it"
        ))
    })
}
