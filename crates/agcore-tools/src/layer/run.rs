//! [`Run`]: the innermost part of the stack, which executes the tool.

use std::pin::pin;

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    task::JoinHandle,
};
use tracing::{Instrument, instrument::WithSubscriber};

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
///
/// # Threads
///
/// On a multi-thread runtime of tokio, each call runs in a task of its own, and a tool that
/// [declares](crate::BaseTool::is_blocking) that it blocks runs on a thread for blocking work, on any runtime. So a
/// tool that blocks its thread delays neither other calls nor their progress, and its timeout and its cancellation take
/// effect in time. Code that was started on such a thread still runs to its end. It no longer affects the result of the
/// call, but holds the concurrency key until then. The tracing span of the call is entered there, too; values of
/// `tokio::task_local!` are not visible.
///
/// On a current-thread runtime, and outside of tokio, a tool runs in the task of its caller unless it declares that it
/// blocks.
#[derive(Debug, Clone, Copy, Default)]
pub struct Run;

impl Invoke for Run {
    async fn invoke(&self, call: &PreparedCall) -> Result<ToolOutput, ToolError> {
        // Pinned here and passed by reference: moved into the call below, the future would be stored twice.
        let work = pin!(run(call));
        // The end of the call drops this future, so the token of the run suffices.
        match call.context.run_cancellation().run_until_cancelled(work).await {
            Some(result) => result,
            None => Err(ToolError::cancelled()),
        }
    }
}

/// Runs the tool where it blocks no other call.
async fn run(call: &PreparedCall) -> Result<ToolOutput, ToolError> {
    match Handle::try_current() {
        Ok(runtime) if call.tool.tool().is_blocking() => on_blocking_thread(runtime, call.clone()).await,
        Ok(runtime) if runtime.runtime_flavor() == RuntimeFlavor::MultiThread => in_task(&runtime, call.clone()).await,
        _ => caught(call).await,
    }
}

async fn in_task(runtime: &Handle, call: PreparedCall) -> Result<ToolOutput, ToolError> {
    let work = async move { caught(&call).await };
    let task = runtime.spawn(work.in_current_span().with_current_subscriber());
    Task(task).join().await
}

async fn on_blocking_thread(runtime: Handle, call: PreparedCall) -> Result<ToolOutput, ToolError> {
    let handle = runtime.clone();
    // A tool that awaits something, too, is dropped there when its call ends.
    let work = async move {
        let cancellation = call.context.cancellation().clone();
        let work = cancellation.run_until_cancelled(caught(&call)).await;
        work.unwrap_or_else(|| Err(ToolError::cancelled()))
    };
    let work = work.in_current_span().with_current_subscriber();
    Task(runtime.spawn_blocking(move || handle.block_on(work))).join().await
}

/// A task that is aborted on drop.
struct Task(JoinHandle<Result<ToolOutput, ToolError>>);

impl Task {
    async fn join(mut self) -> Result<ToolOutput, ToolError> {
        // The task itself catches panics, so this is the end of the runtime.
        (&mut self.0).await.unwrap_or_else(|_| Err(ToolError::cancelled()))
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn caught(call: &PreparedCall) -> Result<ToolOutput, ToolError> {
    catch_panic(call.tool.name(), execute(call)).await?
}

async fn execute(call: &PreparedCall) -> Result<ToolOutput, ToolError> {
    // Directly before the effect: layers may have waited, and the task may have been scheduled late.
    if call.context.must_stop() {
        return Err(ToolError::cancelled());
    }
    let mut output = call.tool.tool().execute(&call.arguments, &call.context).await?;
    if let OutputBody::Stream(stream) = output.body {
        output = stream.finish(|part| call.context.report_part(part)).await?;
    }
    call.tool.check_output(&mut output)?;
    if !call.tool.annotations().stable_display {
        output.ui_hints = None;
    }
    Ok(output)
}
