//! `write_file`: creates or replaces a file of the folder.

use agcore::tools::{Registration, State, ToolContext, ToolError, tool};
use serde_json::Value;

use super::{
    change::Change,
    folder::{ToolFolder, confirmation, precondition},
    text_file::{self, MAX_FILE},
};

/// The name of the tool.
pub(super) const NAME: &str = "write_file";

/// Creates the tool.
pub(super) fn tool() -> Registration {
    write_file_tool()
        .with_confirmation(confirmation)
        .with_precondition(precondition(change))
}

/// Creates a text file in the current directory, or replaces it completely. Missing directories are created.
#[tool(
    permissions(write),
    read_only = false,
    idempotent,
    concurrency_key = "files",
    blocking
)]
#[serde(deny_unknown_fields)]
fn write_file(
    /// The path, relative to the current directory.
    path: String,
    /// The complete content.
    content: String,
    State(folder): State<ToolFolder>,
    context: ToolContext,
) -> Result<String, ToolError> {
    text_file::apply(&folder, &context, &replaced(&folder, &path, content)?)
}

/// Returns the change that a call would make.
///
/// # Errors
/// When the call would fail.
pub(super) fn change(folder: &ToolFolder, arguments: &Value) -> Result<Change, ToolError> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    replaced(folder, text("path"), text("content").to_owned())
}

fn replaced(folder: &ToolFolder, path: &str, content: String) -> Result<Change, ToolError> {
    if content.len() as u64 > MAX_FILE {
        return Err(ToolError::failed(format!(
            "the content is larger than {} MiB",
            MAX_FILE / 1024 / 1024
        )));
    }
    let found = folder.writable(path)?;
    Ok(Change {
        before: text_file::read_if_exists(folder, &found)?,
        path: found,
        after: content,
    })
}
