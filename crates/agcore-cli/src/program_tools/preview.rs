//! [`Previews`]: shows a change of a file before its approval.

use agcore::tools::ApprovalRequest;

use super::{edit_file, folder::ToolFolder, write_file};

/// Shows what a call would change, so that what a person approves is what happens.
#[derive(Debug, Clone)]
pub(crate) struct Previews(ToolFolder);

impl Previews {
    /// Creates the previews of the tools of a folder.
    pub(crate) fn new(folder: &ToolFolder) -> Self {
        Self(folder.clone())
    }

    /// Returns the difference that a call would make to a file, and remembers the file. Returns `None` for calls that change no
    /// file, or that will fail.
    pub(crate) fn preview(&self, request: &ApprovalRequest) -> Option<String> {
        let arguments = request.arguments.as_value();
        let change = match &*request.tool {
            edit_file::NAME => edit_file::change(&self.0, arguments),
            write_file::NAME => write_file::change(&self.0, arguments),
            _ => return None,
        };
        let change = change.ok()?;
        let approved = self.0.approved();
        approved.remember(&request.call_id, &change.path, change.before.as_deref());
        Some(change.diff())
    }
}
