//! [`CallView`]: a tool call as editors show it.

use std::path::{Component, Path, PathBuf};

use agcore_chat::text::{clip, prefix, sanitized_line, visible};
use agcore_tools::{Permission, RegisteredTool};
use agent_client_protocol::v1::schema::{
    Content, ContentBlock, Diff, TextContent, ToolCallContent, ToolCallLocation, ToolKind,
};
use serde_json::Value;

use crate::difference::difference;

/// The longest title, in bytes.
const MAX_TITLE: usize = 160;

/// The largest file that is sent as a difference, in bytes. Editors get both versions as a whole.
const MAX_DIFF: usize = 1024 * 1024;

/// The longest text about a call in a question, in bytes. The rest is counted.
const MAX_ASKED: usize = 64 * 1024;

/// The arguments that describe a call best, the most important first.
const SUBJECTS: [&str; 8] = [
    "command",
    "path",
    "file_path",
    "file",
    "url",
    "pattern",
    "query",
    "text",
];

/// The arguments that name a file.
const PATHS: [&str; 3] = ["path", "file_path", "file"];

/// A change of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileChange {
    /// The absolute path.
    pub path: PathBuf,
    /// The text before; `None` for a new file.
    pub before: Option<String>,
    /// The text after.
    pub after: String,
}

impl FileChange {
    /// Returns the change as editors show it, or `None` if it is too large for a message.
    pub(crate) fn content(&self) -> Option<ToolCallContent> {
        let size = self.before.as_deref().map_or(0, str::len) + self.after.len();
        (size <= MAX_DIFF).then(|| {
            ToolCallContent::Diff(Diff::new(self.path.clone(), self.after.clone()).old_text(self.before.clone()))
        })
    }
}

/// Describes the calls of a session. A closure that describes a call by its tool and its arguments is one as well.
pub trait DescribeCalls: Send + Sync {
    /// Describes a call by its tool and its arguments.
    fn describe(&self, tool: &str, arguments: &Value) -> CallView;

    /// Returns the change of a file that a call has made. It is asked once for each call that has succeeded.
    fn change_made(&self, call_id: &str) -> Option<FileChange> {
        let _ = call_id;
        None
    }
}

impl<F: Fn(&str, &Value) -> CallView + Send + Sync> DescribeCalls for F {
    fn describe(&self, tool: &str, arguments: &Value) -> CallView {
        self(tool, arguments)
    }
}

/// A tool call as editors show it: a title, a kind that decides about an icon, the files to which it leads, and what it changes.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallView {
    /// The call in one line.
    pub title: String,
    /// The kind.
    pub kind: ToolKind,
    /// The files that the call names, if they are below the folder of the session.
    pub locations: Vec<ToolCallLocation>,
    /// The change of a file, if it is known beforehand.
    pub change: Option<FileChange>,
    /// Why the call would fail, if that is known beforehand.
    pub problem: Option<String>,
}

impl CallView {
    /// Describes a call by its tool and its arguments. `root` is the folder of the session; paths that lead out of it are not
    /// locations.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use agcore_acp::{CallView, schema::ToolKind};
    /// use serde_json::json;
    ///
    /// let view = CallView::new("read_file", None, &json!({"path": "src/main.rs", "offset": 10}), Path::new("/project"));
    /// assert_eq!((view.title.as_str(), view.kind), ("read_file src/main.rs", ToolKind::Read));
    /// assert_eq!((view.locations[0].path.to_str(), view.locations[0].line), (Some("/project/src/main.rs"), Some(10)));
    /// ```
    pub fn new(name: &str, tool: Option<&RegisteredTool>, arguments: &Value, root: &Path) -> Self {
        Self {
            title: title(name, arguments),
            kind: kind(name, tool),
            locations: locations(arguments, root),
            change: None,
            problem: None,
        }
    }

    /// Sets the change of a file.
    #[must_use]
    pub fn with_change(mut self, change: Option<FileChange>) -> Self {
        self.change = change;
        self
    }

    /// Sets why the call would fail.
    #[must_use]
    pub fn with_problem(mut self, problem: Option<String>) -> Self {
        self.problem = problem;
        self
    }

    /// Adds who makes the call, if that is not the agent that answers.
    #[must_use]
    pub fn by(mut self, agent: Option<&str>) -> Self {
        if let Some(agent) = agent {
            self.title = format!("{} › {}", one_line(agent), self.title);
        }
        self
    }

    /// Returns the contents that are known before the call runs.
    pub(crate) fn content(&self) -> Vec<ToolCallContent> {
        self.change.as_ref().and_then(FileChange::content).into_iter().collect()
    }

    /// Returns the contents of a question about the call: everything that it would do. A title is shortened, and not every editor
    /// shows the arguments.
    pub(crate) fn asked(&self, arguments: &Value) -> Vec<ToolCallContent> {
        let Some(change) = &self.change else {
            let mut content = vec![block(&whole_call(arguments))];
            if let Some(problem) = &self.problem {
                content.push(block(&format!(
                    "As it is now, the call would fail: {}",
                    visible(problem)
                )));
            }
            return content;
        };
        match change.content() {
            Some(content) => vec![content],
            None => {
                let path = change.path.display().to_string();
                let before = change.before.as_deref().unwrap_or_default();
                let lines = difference(before, &change.after);
                vec![block(&format!("{}\n{lines}", visible(&path)))]
            }
        }
    }
}

/// Returns the command and the other arguments of a call, complete.
fn whole_call(arguments: &Value) -> String {
    let mut rest = arguments.clone();
    let command = rest.as_object_mut().and_then(|rest| rest.remove("command"));
    let Some(command) = command.as_ref().and_then(Value::as_str) else {
        return visible_lines(&format!("{arguments:#}"));
    };
    match rest.as_object().is_none_or(serde_json::Map::is_empty) {
        true => visible_lines(command),
        false => format!("{}\n\n{}", visible_lines(command), visible_lines(&format!("{rest:#}"))),
    }
}

/// Escapes invisible characters, except for line breaks.
fn visible_lines(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(visible).collect();
    lines.join("\n")
}

/// Returns a text as it is: editors render Markdown, which could hide a part of it.
fn block(text: &str) -> ToolCallContent {
    let shown = prefix(text, MAX_ASKED);
    let ticks = shown.split(|c: char| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(ticks.max(2) + 1);
    let text = match text.len() - shown.len() {
        0 => format!("{fence}\n{shown}\n{fence}"),
        hidden => format!("{fence}\n{shown}\n{fence}\n{hidden} bytes are not shown."),
    };
    ToolCallContent::Content(Content::new(ContentBlock::Text(TextContent::new(text))))
}

fn title(name: &str, arguments: &Value) -> String {
    let name = one_line(name);
    let subject = SUBJECTS.iter().find_map(|key| arguments.get(*key)?.as_str());
    match subject.map(one_line).filter(|text| !text.is_empty()) {
        Some(text) => format!("{name} {text}"),
        None => name,
    }
}

/// Returns a text in one line, shortened, with its invisible characters escaped.
fn one_line(text: &str) -> String {
    sanitized_line(&visible(&clip(text.trim(), MAX_TITLE)))
}

fn kind(name: &str, tool: Option<&RegisteredTool>) -> ToolKind {
    let has = |word: &str| name.split(['_', '-', '.']).any(|part| part == word);
    if ["search", "grep", "find", "list", "glob"].iter().any(|word| has(word)) {
        return ToolKind::Search;
    }
    if has("fetch") {
        return ToolKind::Fetch;
    }
    let needs = |permission: Permission| tool.is_some_and(|tool| tool.permissions().contains(&permission));
    if needs(Permission::Shell) {
        ToolKind::Execute
    } else if needs(Permission::Delete) {
        ToolKind::Delete
    } else if needs(Permission::Write) || needs(Permission::FileSystem) {
        ToolKind::Edit
    } else if needs(Permission::Network) {
        ToolKind::Fetch
    } else if needs(Permission::Read) || has("read") {
        ToolKind::Read
    } else {
        ToolKind::Other
    }
}

fn locations(arguments: &Value, root: &Path) -> Vec<ToolCallLocation> {
    let named = PATHS.iter().find_map(|key| arguments.get(*key)?.as_str());
    let Some(path) = named.and_then(|path| below(path, root)) else {
        return Vec::new();
    };
    let line = ["line", "offset"].iter().find_map(|key| arguments.get(*key)?.as_u64());
    let line = line.and_then(|line| u32::try_from(line).ok());
    vec![ToolCallLocation::new(path).line(line)]
}

/// Returns the absolute path of a file below the folder, or `None` for one that leads out of it. Links are not followed.
fn below(path: &str, root: &Path) -> Option<PathBuf> {
    if path.is_empty() || path.contains('\0') {
        return None;
    }
    let joined = root.join(path);
    let mut plain = PathBuf::new();
    for component in joined.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain.starts_with(root).then_some(plain)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(view: &CallView, arguments: &Value) -> Vec<String> {
        let text = |content: ToolCallContent| match content {
            ToolCallContent::Content(content) => match content.content {
                ContentBlock::Text(text) => text.text,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        };
        view.asked(arguments).into_iter().map(text).collect()
    }

    fn view(arguments: &Value) -> CallView {
        CallView::new("shell", None, arguments, Path::new("/project"))
    }

    #[test]
    fn a_question_has_the_whole_command_and_all_arguments() {
        let hidden = format!("echo {}\nrm -rf \u{202e}x ```", " ".repeat(500));
        let arguments = json!({"command": hidden, "timeout": 5});
        let shown = &asked(&view(&arguments), &arguments)[0];
        assert!(shown.starts_with("````\necho ") && shown.ends_with("\n````"), "{shown}");
        assert!(
            shown.contains("\nrm -rf \\u{202e}x ```\n\n{\n  \"timeout\": 5\n}"),
            "{shown}"
        );
        let arguments = json!({"euros": 5, "to": ["a"]});
        assert_eq!(
            asked(&view(&arguments), &arguments),
            [format!("```\n{arguments:#}\n```")]
        );
        let long = json!({"command": "x".repeat(MAX_ASKED + 7)});
        assert!(asked(&view(&long), &long)[0].ends_with("```\n7 bytes are not shown."));
    }

    #[test]
    fn a_question_has_a_change_that_is_too_large_as_a_difference() {
        let before = "line\n".repeat(MAX_DIFF / 4);
        let change = FileChange {
            path: PathBuf::from("/project/a"),
            after: format!("{before}last\n"),
            before: Some(before),
        };
        let arguments = json!({"path": "a"});
        let shown = asked(&view(&arguments).with_change(Some(change)), &arguments);
        assert!(shown[0].starts_with("```\n/project/a\n@@ "), "{shown:?}");
        assert!(shown[0].contains(" line\n+last\n"), "{shown:?}");
        let failing = view(&arguments).with_problem(Some("a does not exist".to_owned()));
        assert!(asked(&failing, &arguments)[1].contains("would fail: a does not exist"));
    }
}
