//! `list_files`: lists the files of the folder.

use std::{
    fs::FileType,
    path::{MAIN_SEPARATOR, Path, PathBuf},
};

use agcore::tools::{Registration, State, ToolError, permission::Glob, tool};
use agcore_terminal::render::sanitized_line;
use ignore::{DirEntry, WalkBuilder};

use super::{file_name::shown, folder::ToolFolder};

/// The number of files that are listed.
const MAX_FILES: usize = 1_000;

/// Creates the tool.
pub(super) fn tool() -> Registration {
    list_files_tool()
}

/// Lists files of the current directory, without those that .gitignore excludes. Directories end with a slash. Names with line
/// breaks or other special characters are in quotation marks; the other tools accept them like that.
#[tool(permissions(read), read_only, idempotent, blocking)]
#[serde(deny_unknown_fields)]
fn list_files(
    /// The directory, relative to the current one; the current directory by default.
    path: Option<String>,
    /// List only paths that match, such as `*.rs`; `*` matches slashes, too.
    pattern: Option<String>,
    /// The number of levels below the directory; unlimited by default.
    depth: Option<usize>,
    State(folder): State<ToolFolder>,
) -> Result<String, ToolError> {
    let found = folder.existing(path.as_deref().unwrap_or("."))?;
    let pattern = pattern.map(Glob::new);
    let mut names = Vec::new();
    for entry in walk(&folder, &found, depth) {
        let (relative, kind) = entry;
        let is_directory = kind.is_dir();
        let name = shown(&relative);
        if pattern
            .as_ref()
            .is_some_and(|pattern| is_directory || !pattern.matches(&matched(&relative)))
        {
            continue;
        }
        if names.len() == MAX_FILES {
            names.push(format!(
                "[only the first {MAX_FILES} are listed; use path, pattern or depth]"
            ));
            break;
        }
        names.push(if is_directory { directory(name) } else { name });
    }
    match names.is_empty() {
        true => Ok("No files.".to_owned()),
        false => Ok(names.join("\n")),
    }
}

/// The number of files that can be completed.
const MAX_COMPLETED: usize = 50_000;

impl ToolFolder {
    /// Returns the paths of the files in the folder and in further folders that a message may mention: without those that
    /// .gitignore excludes, that usually contain secrets, or whose name cannot be typed. At most 50,000.
    pub fn file_names(&self) -> Vec<String> {
        let starts = [PathBuf::from(".")].into_iter().chain(self.further());
        let files = starts.flat_map(|start| walk(self, &start, None));
        let name = |(path, kind): (PathBuf, FileType)| {
            let name = matched(&path);
            let is_plain = !name.contains(['"', '\u{fffd}']) && sanitized_line(&name) == name;
            (kind.is_file() && is_plain && self.is_readable(&path)).then_some(name)
        };
        files.filter_map(name).take(MAX_COMPLETED).collect()
    }
}

/// Appends a slash to the name of a directory.
fn directory(name: String) -> String {
    match name.strip_suffix('"') {
        Some(quoted) => format!("{quoted}/\""),
        None => name + "/",
    }
}

/// Returns a path as patterns see it.
pub(super) fn matched(path: &Path) -> String {
    let path = path.to_string_lossy();
    match MAIN_SEPARATOR {
        '/' => path.into_owned(),
        separator => path.replace(separator, "/"),
    }
}

/// Returns the files and directories below a directory, relative to the current one or absolute, in order of their names, with
/// their types. Links are not followed, and what .gitignore excludes is left out.
pub(super) fn walk(
    folder: &ToolFolder,
    start: &Path,
    depth: Option<usize>,
) -> impl Iterator<Item = (PathBuf, FileType)> + use<> {
    let root = folder.path().to_owned();
    let walk = WalkBuilder::new(root.join(start))
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        .git_global(false)
        .max_depth(depth)
        .filter_entry(|entry| entry.file_name() != ".git")
        .sort_by_file_name(Ord::cmp)
        .build();
    walk.flatten().filter_map(move |entry: DirEntry| {
        let kind = entry.file_type()?;
        // A further folder has an absolute path.
        let relative = entry.path().strip_prefix(&root).unwrap_or(entry.path());
        let is_listed = entry.depth() > 0 || kind.is_file();
        is_listed.then(|| (relative.to_owned(), kind))
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn files_that_can_be_mentioned_are_named() {
        let outer = tempfile::tempdir().unwrap();
        let root = outer.path().canonicalize().unwrap();
        for folder in ["main/src", "main/target", "main/.git", "lib"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for file in [
            "src/a b.rs",
            "src/文.rs",
            "target/x",
            ".git/config",
            ".env",
            ".github.yml",
            "a\"b",
            "x\u{202e}y",
        ] {
            fs::write(root.join("main").join(file), "x").unwrap();
        }
        fs::write(root.join("main/.gitignore"), "target\n").unwrap();
        fs::write(root.join("lib/c.rs"), "x").unwrap();
        let folder = ToolFolder::at(&root.join("main"), Vec::new()).unwrap();
        folder.add(&root.join("lib")).unwrap();
        let further = root.join("lib/c.rs").display().to_string();
        assert_eq!(
            folder.file_names(),
            [".github.yml", ".gitignore", "src/a b.rs", "src/文.rs", &further]
        );
    }
}
