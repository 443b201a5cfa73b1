//! `read_file`: reads a text file of the folder.

use std::path::PathBuf;

use agcore::tools::{Registration, State, ToolError, tool};

use super::{
    folder::{ToolFolder, precondition},
    text_file,
};

/// The number of lines that are returned if the model asks for no other.
const LINES: usize = 2_000;

/// The longest text that is returned, in bytes.
const MAX_TEXT: usize = 48 * 1024;

/// Creates the tool.
pub(super) fn tool() -> Registration {
    read_file_tool().with_precondition(precondition(|folder, arguments| {
        readable(folder, arguments["path"].as_str().unwrap_or_default())
    }))
}

/// Reads a text file of the current directory. Long files are returned in parts: use `offset` to continue. Files that usually
/// contain secrets, such as .env, are refused.
#[tool(permissions(read), read_only, idempotent, blocking)]
#[serde(deny_unknown_fields)]
fn read_file(
    /// The path, relative to the current directory.
    path: String,
    /// The number of the first line, from 1.
    offset: Option<usize>,
    /// The number of lines; 2000 by default.
    limit: Option<usize>,
    State(folder): State<ToolFolder>,
) -> Result<String, ToolError> {
    let found = readable(&folder, &path)?;
    let text = text_file::read(&folder, &found)?;
    Ok(part(&text, offset.unwrap_or(1).max(1), limit.unwrap_or(LINES).max(1)))
}

/// Returns the path, without links, of a file that may be read.
fn readable(folder: &ToolFolder, path: &str) -> Result<PathBuf, ToolError> {
    let found = folder.existing(path)?;
    folder.check_secret(&found)?;
    Ok(found)
}

/// Returns this many lines from this one on, and a note if there are more.
fn part(text: &str, first: usize, limit: usize) -> String {
    let count = text.lines().count();
    let (mut part, mut last) = (String::new(), first - 1);
    for line in text.split_inclusive('\n').skip(first - 1).take(limit) {
        if part.len() + line.len() > MAX_TEXT {
            break;
        }
        part.push_str(line);
        last += 1;
    }
    match (first > count.max(1), last < count) {
        (true, _) => format!("The file has only {count} lines."),
        (false, true) if part.is_empty() => format!("Line {first} of {count} is longer than {MAX_TEXT} bytes."),
        (false, true) => format!(
            "{part}[lines {first} to {last} of {count}; continue with offset {}]\n",
            last + 1
        ),
        (false, false) => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_parts() {
        let text = "one\ntwo\nthree";
        assert_eq!(part(text, 1, 10), text);
        assert_eq!(part(text, 2, 1), "two\n[lines 2 to 2 of 3; continue with offset 3]\n");
        assert_eq!(part(text, 3, 1), "three");
        assert_eq!(part(text, 4, 1), "The file has only 3 lines.");
        assert_eq!(part("", 1, 1), "");
        let long = "x".repeat(MAX_TEXT + 1) + "\nshort\n";
        assert!(part(&long, 1, 5).starts_with("Line 1 of 2 is longer than"));
        assert_eq!(part(&long, 2, 5), "short\n");
    }
}
