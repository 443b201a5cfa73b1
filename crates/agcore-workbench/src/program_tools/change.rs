//! [`Change`]: a change of a text file, before it is written.

use std::path::{Path, PathBuf};

use similar::TextDiff;

use super::file_name::shown;

/// A change of a text file, with the whole text before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The absolute path, without links.
    pub path: PathBuf,
    /// The text before; `None` for a new file.
    pub before: Option<String>,
    /// The text after.
    pub after: String,
}

/// A change of a text file.
#[derive(Debug)]
pub(super) struct Change {
    /// The path without links.
    pub(super) path: PathBuf,
    /// The content before, or `None` if the file does not exist.
    pub(super) before: Option<String>,
    /// The content after.
    pub(super) after: String,
}

impl Change {
    /// Returns the change as a unified difference.
    pub(super) fn diff(&self) -> String {
        let name = shown(&self.path);
        let old = match &self.before {
            Some(_) => format!("a/{name}"),
            None => "/dev/null".to_owned(),
        };
        let before = self.before.as_deref().unwrap_or_default();
        let diff = TextDiff::from_lines(before, &self.after);
        let text = diff.unified_diff().header(&old, &format!("b/{name}")).to_string();
        match text.is_empty() {
            true => format!("{name} stays as it is.\n"),
            false => text,
        }
    }

    /// Returns the change with both texts. `root` is the path of the folder.
    pub(super) fn edit(&self, root: &Path) -> FileEdit {
        FileEdit {
            path: root.join(&self.path),
            before: self.before.clone(),
            after: self.after.clone(),
        }
    }

    /// Describes the change for the model.
    pub(super) fn summary(&self) -> String {
        let before = self.before.as_deref().unwrap_or_default();
        let diff = TextDiff::from_lines(before, &self.after);
        let (mut added, mut removed) = (0, 0);
        for change in diff.iter_all_changes() {
            match change.tag() {
                similar::ChangeTag::Insert => added += 1,
                similar::ChangeTag::Delete => removed += 1,
                similar::ChangeTag::Equal => {}
            }
        }
        let verb = if self.before.is_some() { "changed" } else { "created" };
        let lines = if added == 1 { "line" } else { "lines" };
        format!(
            "{} was {verb}: {added} {lines} added, {removed} removed.",
            shown(&self.path)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_in_names_add_no_lines() {
        let change = Change {
            path: PathBuf::from("a.txt\n+harmless\n\nAllow this?\r"),
            before: None,
            after: "x\n".to_owned(),
        };
        assert_eq!(
            change.diff(),
            "--- /dev/null\n+++ b/\"a.txt\\n+harmless\\n\\nAllow this?\\r\"\n@@ -0,0 +1 @@\n+x\n"
        );
        assert_eq!(change.summary().lines().count(), 1);
    }

    #[test]
    fn shows_what_changes() {
        let change = Change {
            path: "a.txt".into(),
            before: Some("one\ntwo\n".to_owned()),
            after: "one\n2\n".to_owned(),
        };
        assert_eq!(
            change.diff(),
            "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n"
        );
        assert_eq!(change.summary(), "a.txt was changed: 1 line added, 1 removed.");
        let new = Change { before: None, ..change };
        assert!(new.diff().starts_with("--- /dev/null\n+++ b/a.txt\n"), "{}", new.diff());
    }
}
