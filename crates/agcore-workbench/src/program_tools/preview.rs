//! [`Previews`]: shows a change of a file before its approval.

use agcore::tools::{ApprovalRequest, ToolError};
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
        let change = match self.change(&request.tool, request.arguments.as_value())? {
            Ok(change) => change,
            Err(error) => {
                self.remember_target(request);
                return Some(Preview::Failure(error.message().to_owned()));
            }
        };
        let approved = self.0.approved();
        approved.remember(&request.call_id, &change.path, change.before.as_deref());
        Some(Preview::Change(change.diff()))
    }

    /// Returns the change that a call would make to a file, with both texts, and remembers the file: if it changes before the call
    /// runs, nothing is written. Returns `None` for calls of other tools, and for those that would fail.
    pub fn edit_for(&self, request: &ApprovalRequest) -> Option<FileEdit> {
        let Ok(change) = self.change(&request.tool, request.arguments.as_value())? else {
            self.remember_target(request);
            return None;
        };
        let approved = self.0.approved();
        approved.remember(&request.call_id, &change.path, change.before.as_deref());
        Some(change.edit(self.0.path()))
    }

    /// Returns the change that a call would make to a file now, with both texts, or `None` if it would fail or changes no file.
    pub fn edit(&self, tool: &str, arguments: &Value) -> Option<FileEdit> {
        Some(self.change(tool, arguments)?.ok()?.edit(self.0.path()))
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
    fn remember_target(&self, request: &ApprovalRequest) {
        let path = request.arguments.as_value()["path"].as_str().unwrap_or_default();
        if let Ok(path) = self.0.writable(path) {
            let content = text_file::read_if_exists(&self.0, &path).unwrap_or_default();
            self.0.approved().remember(&request.call_id, &path, content.as_deref());
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
