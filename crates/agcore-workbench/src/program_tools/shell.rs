//! `shell`: runs a command line in the folder.

mod live_output;
mod child;

use std::time::Duration;

use agcore::tools::{Registration, State, ToolContext, ToolError, ToolOutput, tool};
use agcore_terminal::render::EXIT_CODE;
use serde_json::{Value, json};
use tokio::process::Command;

use self::live_output::LiveOutput;
pub(crate) use self::{
    child::{GRACE_PERIOD, describe, start},
    live_output::Tail,
};
use super::folder::{ToolFolder, precondition};

/// The time that a command may take if the model asks for no other, in seconds.
const SECONDS: u64 = 120;

/// The member of the metadata of a result that records a command outside the sandbox.
const OUTSIDE: &str = "outside_sandbox";

/// The longest time that a command may take, in seconds.
pub(crate) const MAX_SECONDS: u64 = 600;

/// Creates the tool.
pub(super) fn tool() -> Registration {
    guarded(shell_tool())
}

/// Adds the checks of a tool whose argument `command` is a command line.
pub(crate) fn guarded(tool: Registration) -> Registration {
    // The tool ends commands itself, so that what they have written is not lost.
    let tool = tool.with_timeout(Duration::from_secs(MAX_SECONDS + 10));
    tool.with_confirmation(|arguments, context| {
        let folder = context.extension::<ToolFolder>()?;
        let outside = arguments.as_value()["outside"] == true && folder.sandbox().is_wanted();
        let outside = outside.then(|| "it is to run outside the sandbox, so every call is asked about".to_owned());
        let line = folder.line_confirmation(arguments["command"].as_str()?);
        let reasons: Vec<String> = outside.into_iter().chain(line).collect();
        (!reasons.is_empty()).then(|| reasons.join("; "))
    })
    .with_precondition(precondition(|folder, arguments| {
        folder.check_line(arguments["command"].as_str().unwrap_or_default())
    }))
}

/// Runs a command line with the shell, in the current directory, without input. Returns the exit code and the output, without
/// its middle if it is long. When the command ends, or takes too long, processes that it has left running are killed.
#[tool(
    permissions(shell),
    read_only = false,
    destructive,
    open_world,
    concurrency_key = "files"
)]
#[serde(deny_unknown_fields)]
async fn shell(
    /// The command line.
    command: String,
    /// The time after which the command is killed, in seconds: up to 600, by default 120.
    timeout: Option<u64>,
    /// Whether the command is to run outside the sandbox that confines commands: only if it failed because of it. The user is
    /// always asked.
    outside: Option<bool>,
    State(folder): State<ToolFolder>,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    run(&command, timeout, outside == Some(true), (&folder, &context)).await
}

/// Runs a command line to its end, and reports its output meanwhile.
///
/// # Errors
/// When the line names a file of the program, or the shell cannot be started.
pub(crate) async fn run(
    command: &str,
    timeout: Option<u64>,
    outside: bool,
    (folder, context): (&ToolFolder, &ToolContext),
) -> Result<ToolOutput, ToolError> {
    let limit = Duration::from_secs(timeout.unwrap_or(SECONDS).clamp(1, MAX_SECONDS));
    let outside = outside && folder.sandbox().is_wanted();
    let shell = command_line(command, outside, folder)?;
    let report = |progress| context.report_progress(progress);
    let run = child::run(shell, limit, LiveOutput::new(&report))
        .await
        .map_err(|error| not_started(&error))?;
    let mut text = run.text;
    if run.exit_code != Some(0) && !outside {
        text.extend(folder.sandbox().hint(&text));
    }
    // For the model, a command that fails is a result like any other, but people are shown that it failed.
    let metadata = recorded(json!({ EXIT_CODE: run.exit_code }), outside);
    Ok(ToolOutput::text(text).with_metadata(metadata))
}

/// Returns the shell with a command line, confined unless it is to run outside the sandbox.
fn command_line(command: &str, outside: bool, folder: &ToolFolder) -> Result<Command, ToolError> {
    folder.check_line(command)?;
    let place = (folder.path(), folder.kept_variables());
    let shell = folder.sandbox().shell(command, place, outside);
    shell.map_err(|error| not_started(&error))
}

/// Records in the metadata of a result that its command has run outside the sandbox.
pub(crate) fn recorded(mut metadata: Value, outside: bool) -> Value {
    if outside {
        metadata[OUTSIDE] = json!(true);
    }
    metadata
}

/// Returns the error of a shell that cannot be started.
pub(crate) fn not_started(error: &std::io::Error) -> ToolError {
    ToolError::failed(format!("cannot run the shell: {error}"))
}
