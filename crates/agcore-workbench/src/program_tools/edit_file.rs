//! `edit_file`: replaces text in a file of the folder.

use agcore::tools::{Registration, State, ToolContext, ToolError, tool};
use serde_json::Value;

use super::{
    change::Change,
    folder::{ToolFolder, confirmation, precondition},
    text_file,
};

/// The name of the tool.
pub(super) const NAME: &str = "edit_file";

/// Creates the tool.
pub(super) fn tool() -> Registration {
    edit_file_tool()
        .with_confirmation(confirmation)
        .with_precondition(precondition(change))
}

/// Replaces text in a file of the current directory. `old` must occur exactly once, including white space and line breaks, unless
/// `all` is true.
#[tool(
    permissions(write),
    read_only = false,
    destructive = false,
    concurrency_key = "files",
    blocking
)]
#[serde(deny_unknown_fields)]
fn edit_file(
    /// The path, relative to the current directory.
    path: String,
    /// The text to replace.
    old: String,
    /// The text to put in its place.
    new: String,
    /// Whether to replace every occurrence; false by default.
    all: Option<bool>,
    State(folder): State<ToolFolder>,
    context: ToolContext,
) -> Result<String, ToolError> {
    let change = replaced(&folder, &path, &old, &new, all.unwrap_or(false))?;
    text_file::apply(&folder, &context, &change)
}

/// Returns the change that a call would make.
///
/// # Errors
/// When the call would fail.
pub(super) fn change(folder: &ToolFolder, arguments: &Value) -> Result<Change, ToolError> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let all = arguments["all"].as_bool().unwrap_or(false);
    replaced(folder, text("path"), text("old"), text("new"), all)
}

fn replaced(folder: &ToolFolder, path: &str, old: &str, new: &str, all: bool) -> Result<Change, ToolError> {
    if old.is_empty() {
        return Err(ToolError::failed("`old` is empty; write_file creates a file"));
    }
    folder.existing(path)?;
    let found = folder.writable(path)?;
    let before = text_file::read(folder, &found)?;
    let after = match before.matches(old).count() {
        0 => {
            return Err(ToolError::failed(format!(
                "{path} does not contain `old`; read the file, and copy the text exactly"
            )));
        }
        1 => before.replacen(old, new, 1),
        _ if all => before.replace(old, new),
        count => {
            return Err(ToolError::failed(format!(
                "{path} contains `old` {count} times; add more of the text around it, or set `all`"
            )));
        }
    };
    Ok(Change {
        path: found,
        before: Some(before),
        after,
    })
}
