//! The built-in tools of a chat: a clock, arithmetic, and a notes file in the current directory.

use std::{io, path::PathBuf};

use agcore::{
    chat::{Clock, Timestamp},
    llm::SystemClock,
    tools::{State, ToolError, ToolRegistry, tool},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Number;
use tokio::{
    fs,
    io::{AsyncReadExt, AsyncWriteExt},
};

#[cfg(unix)]
use rustix::fs::OFlags;

/// The file that the notes tools use, in the current directory.
const NOTES: &str = "agcore-notes.md";

/// The maximum size of the notes, in bytes.
const MAX_NOTES: u64 = 1024 * 1024;

/// The path of the notes file, which the notes tools receive as state.
#[derive(Debug, Clone)]
pub struct NotesFile(pub(crate) PathBuf);

impl Default for NotesFile {
    fn default() -> Self {
        Self(PathBuf::from(NOTES))
    }
}

/// Creates the tools of a chat.
///
/// # Errors
/// When two tools have the same name.
pub fn registry() -> Result<ToolRegistry, ToolError> {
    let tools = ToolRegistry::new();
    tools.register_all([
        current_time_tool(),
        arithmetic_tool(),
        read_notes_tool(),
        save_note_tool(),
    ])?;
    Ok(tools)
}

/// Returns the current date and time in UTC.
#[tool(permissions(read), read_only)]
async fn current_time() -> Result<String, ToolError> {
    Ok(Timestamp::from(SystemClock::new().now()).to_text_in_seconds())
}

#[derive(Deserialize, JsonSchema, Clone, Copy)]
#[serde(rename_all = "snake_case")]
enum Operation {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Remainder,
}

/// Performs an arithmetic operation on two numbers.
#[tool(permissions(read), read_only, idempotent)]
#[serde(deny_unknown_fields)]
async fn arithmetic(
    /// The operation to perform.
    operation: Operation,
    /// The first number.
    a: f64,
    /// The second number.
    b: f64,
) -> Result<Number, ToolError> {
    let result = match operation {
        Operation::Add => a + b,
        Operation::Subtract => a - b,
        Operation::Multiply => a * b,
        Operation::Divide => a / b,
        Operation::Power => a.powf(b),
        Operation::Remainder => a % b,
    };
    number(result).ok_or_else(|| ToolError::failed("the result is not a finite number"))
}

/// Returns a finite number as it is written in JSON: whole ones without a decimal point, while they are exact.
fn number(value: f64) -> Option<Number> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = Number::from_f64(value)?;
    if value.fract() != 0.0 || value.abs() > EXACT {
        return Some(number);
    }
    format!("{value:.0}").parse::<i64>().ok().map(Number::from)
}

/// Adds a note to the user's notes.
#[tool(
    permissions(write),
    read_only = false,
    destructive = false,
    concurrency_key = "notes"
)]
#[serde(deny_unknown_fields)]
async fn save_note(
    /// The note, one line.
    text: String,
    State(file): State<NotesFile>,
) -> Result<String, ToolError> {
    let line = format!("- {}\n", text.trim().replace('\n', " "));
    let mut options = fs::OpenOptions::new();
    options.append(true).create(true);
    let written = match open(&file, &mut options).await {
        Ok(mut notes) => match notes.write_all(line.as_bytes()).await {
            Ok(()) => notes.flush().await,
            failed => failed,
        },
        Err(error) => Err(error),
    };
    written.map_err(|error| io_error(&file, "write", &error))?;
    Ok(format!("Saved to {}.", file.0.display()))
}

/// Reads the user's notes.
#[tool(permissions(read), read_only, concurrency_key = "notes")]
async fn read_notes(State(file): State<NotesFile>) -> Result<String, ToolError> {
    let mut notes = String::new();
    let read = match open(&file, fs::OpenOptions::new().read(true)).await {
        Ok(file) => file.take(MAX_NOTES + 1).read_to_string(&mut notes).await.map(drop),
        Err(error) => Err(error),
    };
    match read {
        Ok(()) if notes.len() as u64 > MAX_NOTES => Err(ToolError::failed(format!(
            "cannot read {}: it is larger than {} MiB",
            file.0.display(),
            MAX_NOTES / 1024 / 1024
        ))),
        Ok(()) => Ok(notes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok("There are no notes yet.".to_owned()),
        Err(error) => Err(io_error(&file, "read", &error)),
    }
}

/// Opens the notes file. The current directory may come from somebody else, so a link is not followed, and a pipe or a
/// device is not opened.
async fn open(file: &NotesFile, options: &mut fs::OpenOptions) -> io::Result<fs::File> {
    match fs::symlink_metadata(&file.0).await {
        Ok(metadata) if metadata.is_symlink() => return Err(io::Error::other("it is a link, which is not followed")),
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        _ => {}
    }
    // The file may have been replaced since.
    #[cfg(unix)]
    options.custom_flags(NO_LINK);
    let opened = options.open(&file.0).await?;
    match opened.metadata().await?.is_file() {
        true => Ok(opened),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Opens neither links nor waits for the other end of a pipe.
#[cfg(unix)]
const NO_LINK: i32 = (OFlags::NOFOLLOW.bits() | OFlags::NONBLOCK.bits()).cast_signed();

fn io_error(file: &NotesFile, action: &str, error: &io::Error) -> ToolError {
    ToolError::failed(format!("cannot {action} {}: {error}", file.0.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_results_have_no_decimal_point() {
        let text = |value: f64| number(value).map(|number| number.to_string());
        assert_eq!(text(3.0).as_deref(), Some("3"));
        assert_eq!(text(-0.0).as_deref(), Some("0"));
        assert_eq!(text(0.5).as_deref(), Some("0.5"));
        assert_eq!(text(1e300).as_deref(), Some("1e+300"));
        assert_eq!(text(f64::INFINITY), None);
    }
}
