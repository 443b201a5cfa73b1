//! `shell`: runs a command line in the folder.

mod child;

use std::{io, time::Duration};

use agcore::tools::{Registration, State, ToolError, ToolOutput, tool};
use agcore_terminal::render::EXIT_CODE;
use serde_json::json;

use super::folder::{ToolFolder, precondition};

/// The time that a command may take if the model asks for no other, in seconds.
const SECONDS: u64 = 120;

/// The member of the metadata of a result that records a command outside the sandbox.
const OUTSIDE: &str = "outside_sandbox";

/// The longest time that a command may take, in seconds.
const MAX_SECONDS: u64 = 600;

/// Creates the tool.
pub(super) fn tool() -> Registration {
    // The tool ends commands itself, so that what they have written is not lost.
    let tool = shell_tool().with_timeout(Duration::from_secs(MAX_SECONDS + 10));
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
) -> Result<ToolOutput, ToolError> {
    let limit = Duration::from_secs(timeout.unwrap_or(SECONDS).clamp(1, MAX_SECONDS));
    folder.check_line(&command)?;
    let failed = |error: io::Error| ToolError::failed(format!("cannot run the shell: {error}"));
    let (sandbox, outside) = (folder.sandbox(), outside == Some(true) && folder.sandbox().is_wanted());
    let shell = sandbox.shell(&command, (folder.path(), folder.kept_variables()), outside);
    let run = child::run(shell.map_err(failed)?, limit).await.map_err(failed)?;
    let mut text = run.text;
    if run.exit_code != Some(0) && !outside {
        text.extend(sandbox.hint(&text));
    }
    // For the model, a command that fails is a result like any other, but people are shown that it failed.
    let mut metadata = json!({ EXIT_CODE: run.exit_code });
    if outside {
        metadata[OUTSIDE] = json!(true);
    }
    Ok(ToolOutput::text(text).with_metadata(metadata))
}
