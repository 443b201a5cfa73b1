//! `search`: searches the files of the folder for a regular expression.

use std::path::Path;

use agcore::tools::{Registration, State, ToolContext, ToolError, permission::Glob, tool};
use agcore_terminal::render::truncated;
use regex::RegexBuilder;

use super::{
    file_name::shown,
    folder::ToolFolder,
    list_files::{matched, walk},
    text_file,
};

/// The number of lines that are returned.
const MAX_MATCHES: usize = 200;

/// The longest line that is returned, in columns.
const MAX_LINE: usize = 300;

/// The largest compiled expression, in bytes.
const MAX_EXPRESSION: usize = 1024 * 1024;

/// Creates the tool.
pub(super) fn tool() -> Registration {
    search_tool()
}

/// Searches the text files of the current directory, without those that .gitignore excludes, for lines that match a regular
/// expression. Returns `path:line: text`.
#[tool(permissions(read), read_only, idempotent, blocking)]
#[serde(deny_unknown_fields)]
fn search(
    /// The regular expression, in the syntax of Rust's crate `regex`.
    pattern: String,
    /// The file or directory to search, relative to the current directory, which is the default.
    path: Option<String>,
    /// Search only files whose path matches, such as `*.rs`; `*` matches slashes, too.
    files: Option<String>,
    /// Whether capital and small letters are the same; false by default.
    ignore_case: Option<bool>,
    State(folder): State<ToolFolder>,
    context: ToolContext,
) -> Result<String, ToolError> {
    let expression = RegexBuilder::new(&pattern)
        .case_insensitive(ignore_case.unwrap_or(false))
        .size_limit(MAX_EXPRESSION)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            // The lines before show the expression.
            let reason = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
            ToolError::failed(format!("invalid regular expression: {reason}"))
        })?;
    let found = folder.existing(path.as_deref().unwrap_or("."))?;
    let files = files.map(Glob::new);
    let mut lines = Vec::new();
    let is_searched =
        |path: &Path| files.as_ref().is_none_or(|files| files.matches(&matched(path))) && folder.is_readable(path);
    for (path, kind) in walk(&folder, &found, None) {
        if context.cancellation().is_cancelled() {
            return Err(ToolError::cancelled());
        }
        // A link could hide the name of a secret file.
        if !kind.is_file() || !is_searched(&path) {
            continue;
        }
        // Files that are not text, too large or gone have no matches.
        let Ok(text) = text_file::read_saved(&folder, &path) else {
            continue;
        };
        for (number, line) in (1..).zip(text.lines()).filter(|(_, line)| expression.is_match(line)) {
            if lines.len() == MAX_MATCHES {
                lines.push(format!("[only the first {MAX_MATCHES} matches are listed]"));
                return Ok(lines.join("\n"));
            }
            lines.push(format!(
                "{}:{number}: {}",
                shown(&path),
                truncated(line.trim_end(), MAX_LINE)
            ));
        }
    }
    match lines.is_empty() {
        true => Ok("No matches.".to_owned()),
        false => Ok(lines.join("\n")),
    }
}
