//! [`Previews`]: shows a change of a file before its approval.

use agcore::tools::{ApprovalRequest, ToolError};
use agcore_terminal::render::SHELL;
use serde_json::Value;

use super::{
    change::{Change, FileEdit},
    edit_file,
    folder::ToolFolder,
    text_file, write_file,
};

/// The effect that a call would have on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Preview {
    /// The change, as a unified difference.
    Change(String),
    /// None: the call would fail for this reason.
    Failure(String),
    /// None that is known: it is a command.
    Command {
        /// The rights that it has, in a few words.
        notice: String,
        /// Whether a sandbox confines it.
        confined: bool,
    },
}

/// Shows what a call would change, so that what a person approves is what happens.
#[derive(Debug, Clone)]
pub struct Previews(ToolFolder);

impl Previews {
    /// Creates the previews of the tools of a folder.
    pub fn new(folder: &ToolFolder) -> Self {
        Self(folder.clone())
    }

    /// Returns what a call would do to a file, and remembers the file. Returns `None` for calls of other tools.
    pub fn preview(&self, request: &ApprovalRequest) -> Option<Preview> {
        if request.tool == SHELL {
            let outside = request.arguments.as_value()["outside"] == true;
            let (notice, confined) = self.0.sandbox().notice(outside)?;
            return Some(Preview::Command { notice, confined });
        }
        let change = match self.change(&request.tool, request.arguments.as_value())? {
            Ok(change) => change,
            Err(error) => {
                self.remember_target(&request.call_id, request.arguments.as_value());
                return Some(Preview::Failure(error.message().to_owned()));
            }
        };
        let approved = self.0.approved();
        approved.remember(&request.call_id, &change.path, change.before.as_deref());
        Some(Preview::Change(change.diff()))
    }

    /// Returns the change that a call would make to a file, with both texts, or the reason why it would fail, and remembers the
    /// file: if it changes before the call runs, nothing is written. Returns `None` for calls of other tools.
    pub fn edit_for(&self, request: &ApprovalRequest) -> Option<Result<FileEdit, String>> {
        self.edit_of_question(&request.call_id, &request.tool, request.arguments.as_value())
    }

    /// Like [`edit_for`](Self::edit_for), for the question of a suspended turn: `call_id` is the id of the call that runs if it is
    /// approved.
    pub fn edit_of_question(&self, call_id: &str, tool: &str, arguments: &Value) -> Option<Result<FileEdit, String>> {
        let change = match self.change(tool, arguments)? {
            Ok(change) => change,
            Err(error) => {
                self.remember_target(call_id, arguments);
                return Some(Err(error.message().to_owned()));
            }
        };
        let approved = self.0.approved();
        approved.remember(call_id, &change.path, change.before.as_deref());
        Some(Ok(change.edit(self.0.path())))
    }

    /// Returns the change that a call would make to a file now, as a unified difference, or `None` if it would fail or changes no
    /// file.
    pub fn difference(&self, tool: &str, arguments: &Value) -> Option<String> {
        let change = self.change(tool, arguments)?.ok()?;
        Some(change.diff())
    }

    /// Returns the change that a call would make to a file, or why it would fail; `None` for calls of other tools.
    fn change(&self, tool: &str, arguments: &Value) -> Option<Result<Change, ToolError>> {
        match tool {
            edit_file::NAME => Some(edit_file::change(&self.0, arguments)),
            write_file::NAME => Some(write_file::change(&self.0, arguments)),
            _ => None,
        }
    }

    /// Remembers the file that a call names, although the call would fail: if the file changes, the call must not succeed
    /// with a change that was not shown.
    fn remember_target(&self, call_id: &str, arguments: &Value) {
        let path = arguments["path"].as_str().unwrap_or_default();
        if let Ok(path) = self.0.writable(path) {
            let content = text_file::read_if_exists(&self.0, &path).unwrap_or_default();
            self.0.approved().remember(call_id, &path, content.as_deref());
        }
    }
}

impl ToolFolder {
    /// Keeps the changes that calls make without a question. Returns what takes them, as unified differences by the id of the call.
    pub fn unasked_changes(&self) -> impl Fn(&str) -> Option<String> + Send + use<> {
        self.unasked().keep();
        let folder = self.clone();
        move |call_id| folder.unasked().take(call_id)
    }

    /// Keeps the changes that calls make. Returns what takes them, by the id of the call.
    pub fn edits_made(&self) -> impl Fn(&str) -> Option<FileEdit> + Send + Sync + use<> {
        self.unasked().keep_edits();
        let folder = self.clone();
        move |call_id| folder.unasked().take_edit(call_id)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_resumed_question_is_bound_to_the_file_that_was_shown() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a.rs");
        fs::write(&file, "one\n").unwrap();
        let folder = ToolFolder::at(directory.path(), Vec::new()).unwrap();
        let previews = Previews::new(&folder);
        let arguments = json!({"path": "a.rs", "old": "one", "new": "two"});
        let edit = previews
            .edit_of_question("c1", "edit_file", &arguments)
            .unwrap()
            .unwrap();
        assert_eq!((edit.before.as_deref(), edit.after.as_str()), (Some("one\n"), "two\n"));
        assert!(folder.approved().check("c1", "a.rs".as_ref(), Some("one\n")).unwrap());
        previews
            .edit_of_question("c1", "edit_file", &arguments)
            .unwrap()
            .unwrap();
        assert!(
            folder
                .approved()
                .check("c1", "a.rs".as_ref(), Some("one, changed\n"))
                .is_err()
        );

        // A call that would fail is bound, too: the file must not become one with which it succeeds.
        let missing = json!({"path": "a.rs", "old": "three", "new": "four"});
        let reason = previews
            .edit_of_question("c2", "edit_file", &missing)
            .unwrap()
            .unwrap_err();
        assert!(reason.contains("does not contain `old`"), "{reason}");
        assert!(folder.approved().check("c2", "a.rs".as_ref(), Some("three\n")).is_err());
        assert!(
            previews
                .edit_of_question("c3", "shell", &json!({"command": "ls"}))
                .is_none()
        );
    }
}
