//! [`Run`]: the innermost part, which runs the tool itself.

use std::pin::pin;

use super::invoke::{Invoke, PreparedCall};
use crate::{
    error::ToolError,
    output::{OutputBody, ToolOutput},
    panic::caught,
};

/// Runs the tool itself. A panic becomes [`ExecutionFailed`](crate::ToolErrorKind::ExecutionFailed); streamed parts are handed
/// out as progress; the output's value is checked against the tool's own schema; a cancelled call ends at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run;

impl Invoke for Run {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        // Lent, not given: there would be room for it twice.
        let work = pin!(caught(call.tool.name(), execute(call)));
        match call.context.cancellation().run_until_cancelled(work).await {
            Some(result) => result?,
            None => Err(ToolError::cancelled()),
        }
    }
}

async fn execute(call: &PreparedCall) -> Result<ToolOutput, ToolError> {
    let mut output = call.tool.tool().execute(&call.arguments, &call.context).await?;
    if let OutputBody::Stream(stream) = output.body {
        output = stream.finish(|part| call.context.part(part)).await?;
    }
    if let Some(value) = output.as_value() {
        call.tool.check_output(value)?;
    }
    if !call.tool.annotations().stable_display {
        output.ui_hints = None;
    }
    Ok(output)
}
