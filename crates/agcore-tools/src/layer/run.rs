//! [`Run`]: the innermost part of the stack, which executes the tool.

use std::pin::pin;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
    panic::catch_panic,
};

/// Executes the tool itself.
///
/// A panic becomes [`ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed). Streamed parts are reported as progress.
/// The output's value is validated against the tool's own schema. A cancelled call ends at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run;

impl Invoke for Run {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        // Pinned here and passed by reference: moved into the call below, the future would be stored twice.
        let work = pin!(catch_panic(call.tool.name(), execute(call)));
        match call.context.cancellation().run_until_cancelled(work).await {
            Some(result) => result?,
            None => Err(ToolError::cancelled()),
        }
    }
}

async fn execute(call: &PreparedCall) -> Result<ToolOutput, ToolError> {
    let mut output = call.tool.tool().execute(&call.arguments, &call.context).await?;
    if let OutputBody::Stream(stream) = output.body {
        output = stream.finish(|part| call.context.report_part(part)).await?;
    }
    if let Some(value) = output.as_value() {
        call.tool.check_output(value)?;
    }
    if !call.tool.annotations().stable_display {
        output.ui_hints = None;
    }
    Ok(output)
}
