//! [`catch_panic`]: confines a panic of a tool, or of any other foreign code, to the call it happened in.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt;

use crate::error::{ToolError, ToolErrorKind};

/// Awaits a future and turns its panic into an error of `tool`.
pub(crate) fn catch_panic<'a, F: Future + 'a, N: AsRef<str> + ?Sized>(
    tool: &'a N,
    future: F,
) -> impl Future<Output = Result<F::Output, ToolError>> + use<'a, F, N> {
    // An `async fn` would store the future twice: as an argument, and again where it is awaited.
    let caught = AssertUnwindSafe(future).catch_unwind();
    caught.map(move |outcome| {
        outcome.map_err(|panic| {
            let tool = tool.as_ref();
            let message = panic.downcast_ref::<&str>().copied();
            let message = message
                .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
                .unwrap_or("no message");
            tracing::error!(tool, panic = message, "a tool panicked");
            ToolError::new(ToolErrorKind::ExecutionFailed, format!("{tool} panicked: {message}")).with_model_text(
                format!("{tool} failed because of a bug in the tool itself; continue without it"),
            )
        })
    })
}
