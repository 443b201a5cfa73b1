//! [`caught`]: no panic of a tool, or of anything else that was handed in, goes past its own call.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use crate::error::{ToolError, ToolErrorKind};

/// Awaits a future; its panic is an error of the tool.
pub(crate) fn caught<'a, F: Future + 'a, N: AsRef<str> + ?Sized>(
    tool: &'a N,
    future: F,
) -> impl Future<Output = Result<F::Output, ToolError>> + use<'a, F, N> {
    // No `async fn`: it would have room for the future twice, as an argument and where it is awaited.
    let caught = AssertUnwindSafe(future).catch_unwind();
    caught.map(move |outcome| {
        outcome.map_err(|panic| {
            let tool = tool.as_ref();
            let said = panic.downcast_ref::<&str>().copied();
            let said = said
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            tracing::error!(tool, panic = said, "a tool panicked");
            ToolError::new(ToolErrorKind::ExecutionFailed, format!("{tool} panicked: {said}")).with_model_text(format!(
                "{tool} failed because of a fault in the tool itself; go on without it"
            ))
        })
    })
}
