//! The tool `read_result`.

use std::sync::Arc;

use agcore_chat::{ToolAnnotations, text::prefix};
use agcore_tools::{
    Permission, RegisteredTool, State, ToolError, ToolOutput, ToolRegistry, numbered_lines,
    schemars::{self, JsonSchema},
    typed,
};
use serde::Deserialize;

use super::{settings::READ_RESULT, view::SessionResults};

/// The number of lines that are returned if the call does not limit them, and the largest one.
const LINES: (usize, usize) = (200, 1_000);

/// The longest text that is returned, in bytes.
const MAX_BYTES: usize = 32 * 1024;

/// The number of ids that an error lists.
const LISTED: usize = 5;

const DESCRIPTION: &str =
    "Returns lines of a tool result that was shortened: a range of lines, or those that contain a text.";

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct ReadResult {
    /// The id, as it is written at the beginning of the shortened result.
    id: String,
    /// The number of the first line.
    #[serde(default)]
    from_line: Option<usize>,
    /// The number of lines, 200 if it is missing.
    #[serde(default)]
    lines: Option<usize>,
    /// A text: only lines that contain it are returned, in upper or lower case.
    #[serde(default)]
    contains: Option<String>,
}

/// Returns the tool. It finds the results of its session in the context of its calls.
pub(super) fn read_result_tool() -> Result<RegisteredTool, ToolError> {
    let read =
        |arguments: ReadResult, State(results): State<Arc<SessionResults>>| async move { read(&results, &arguments) };
    let tool = typed(READ_RESULT, DESCRIPTION, read)
        .with_permissions([Permission::Read])
        .with_annotations(ToolAnnotations::new().with_read_only(true).with_idempotent(true));
    let registry = ToolRegistry::new();
    registry.register(tool)?;
    registry
        .get(READ_RESULT)
        .ok_or_else(|| ToolError::not_found(READ_RESULT, Vec::new()))
}

fn read(results: &SessionResults, arguments: &ReadResult) -> Result<ToolOutput, ToolError> {
    let Some(text) = results.text(&arguments.id) else {
        let hint = match results.newest(LISTED).as_slice() {
            [] => "no result of this conversation was shortened".to_owned(),
            ids => format!("the newest ones are {}", ids.join(", ")),
        };
        let message = format!(
            "there is no shortened result with the id `{}`; {hint}, and older ones can be had by calling their tool again",
            agcore_chat::text::visible(prefix(&arguments.id, 128))
        );
        return Err(ToolError::failed(message));
    };
    let lines = numbered_lines(&text);
    let first = arguments.from_line.unwrap_or(1).max(1);
    let wanted = arguments.contains.as_deref().unwrap_or_default().to_lowercase();
    let found = lines.iter().enumerate().skip(first - 1);
    let found = found.filter(|(_, line)| wanted.is_empty() || line.to_lowercase().contains(&wanted));
    let limit = arguments.lines.unwrap_or(LINES.0).clamp(1, LINES.1);
    let found: Vec<_> = found.take(limit + 1).collect();
    Ok(ToolOutput::text(page(&found, limit, lines.len())))
}

/// Returns lines with their numbers, as many as fit, and where to continue.
fn page(found: &[(usize, &String)], limit: usize, count: usize) -> String {
    let (mut text, mut shown) = (String::new(), 0);
    for (at, line) in found {
        let line = format!("{}: {line}\n", at + 1);
        if shown == limit || text.len() + line.len() > MAX_BYTES {
            text.push_str(&format!("[more from line {} of {count}]", at + 1));
            return text;
        }
        text.push_str(&line);
        shown += 1;
    }
    match shown {
        0 => format!("[no such line; the result has {count} lines]"),
        _ => text + "[end]",
    }
}
