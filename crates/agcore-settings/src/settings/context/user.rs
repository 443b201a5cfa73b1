//! The instructions of the user, for all folders: `AGENTS.md` next to the settings, with the files that it imports.

use std::{
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use agcore_terminal::process::expand_home;

use crate::places::abbreviated;

/// The maximum size of all files together, in bytes.
const MAX_BYTES: usize = 32 * 1024;

/// The number of files in a chain of imports.
const MAX_DEPTH: usize = 5;

/// The instructions of the user.
#[derive(Debug, Clone, Default)]
pub(super) struct UserInstructions {
    /// The files that are used, in the order in which they are read.
    pub(super) loaded: Vec<String>,
    /// The files that are not used, each with the reason.
    pub(super) skipped: Vec<String>,
    pub(super) text: String,
}

impl UserInstructions {
    /// Reads a file, and the files that it imports: a line `@PATH` is replaced by the file, whose path is relative to that of the
    /// line. Each file is read once. Without the first one, there are no instructions.
    pub(super) fn read(path: &Path) -> Self {
        let mut found = Self::default();
        if path.exists() {
            found.add(path, &mut Vec::new(), MAX_DEPTH);
        }
        found
    }

    fn add(&mut self, path: &Path, known: &mut Vec<PathBuf>, depth: usize) {
        let name = abbreviated(path);
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if known.contains(&place) {
            return;
        }
        known.push(place);
        match content(path) {
            Ok(text) => {
                self.loaded.push(name);
                self.add_lines(&text, path, known, depth);
            }
            Err(reason) => self.skipped.push(format!("{name} ({reason})")),
        }
    }

    fn add_lines(&mut self, text: &str, path: &Path, known: &mut Vec<PathBuf>, depth: usize) {
        let mut is_code = false;
        for line in text.lines() {
            is_code ^= line.trim_start().starts_with("```");
            let import = line.trim_end().strip_prefix('@').filter(|_| !is_code);
            match import.filter(|name| !name.is_empty() && !name.contains(char::is_whitespace)) {
                Some(name) if depth > 1 => {
                    let folder = path.parent().unwrap_or(Path::new("."));
                    self.add(&folder.join(expand_home(name)), known, depth - 1);
                }
                Some(name) => {
                    let problem = format!("{name} (files are imported through at most {MAX_DEPTH} files)");
                    self.skipped.push(problem);
                }
                None if self.text.len() + line.len() < MAX_BYTES => {
                    self.text += line;
                    self.text.push('\n');
                }
                None => {
                    let limit = MAX_BYTES / 1024;
                    let name = abbreviated(path);
                    let problem = format!("the rest of {name} (the limit for all files of the user is {limit} KiB)");
                    self.skipped.push(problem);
                    return;
                }
            }
        }
    }
}

fn content(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    // Opening a named pipe could wait forever.
    if !metadata.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // More than can be used, so that the rest is noticed.
    let read = file.take(2 * MAX_BYTES as u64).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text.trim_start_matches('\u{feff}').to_owned()),
        // A character may be cut at the limit.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            Ok(String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned())
        }
        Err(_) => Err("it is not UTF-8".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(files: &[(&str, &str)]) -> UserInstructions {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let mut found = UserInstructions::read(&folder.path().join("AGENTS.md"));
        let folder = format!("{}/", folder.path().display());
        for name in found.loaded.iter_mut().chain(&mut found.skipped) {
            *name = name.replace(&folder, "");
        }
        found
    }

    #[test]
    fn imports_are_in_the_place_of_their_lines() {
        let found = read(&[
            (
                "AGENTS.md",
                "Be brief.\n@style/all.md\n@AGENTS.md\nWrite to ada@example.com.\n```\n@style/none.md\n```\n",
            ),
            ("style/all.md", "Use tabs.\n@code.md\n"),
            ("style/code.md", "No globals."),
        ]);
        let expected = "Be brief.\nUse tabs.\nNo globals.\nWrite to ada@example.com.\n```\n@style/none.md\n```\n";
        assert_eq!(found.text, expected);
        assert_eq!(found.loaded, ["AGENTS.md", "style/all.md", "style/code.md"]);
        assert_eq!(found.skipped, [""; 0]);
    }

    #[test]
    fn files_that_cannot_be_used_are_reported() {
        let chain = |next: &str| format!("x\n@{next}\n");
        let found = read(&[
            ("AGENTS.md", "@none.md\n@folder\n@1.md\nEnd.\n"),
            ("folder/a.md", ""),
            ("1.md", &chain("2.md")),
            ("2.md", &chain("3.md")),
            ("3.md", &chain("4.md")),
            ("4.md", &chain("5.md")),
            ("5.md", "never"),
        ]);
        assert_eq!(found.text, "x\nx\nx\nx\nEnd.\n");
        assert_eq!(found.loaded, ["AGENTS.md", "1.md", "2.md", "3.md", "4.md"]);
        assert!(found.skipped[0].starts_with("none.md ("), "{:?}", found.skipped);
        assert_eq!(found.skipped[1], "folder (it is not a regular file)");
        assert_eq!(found.skipped[2], "5.md (files are imported through at most 5 files)");
        assert!(read(&[]).loaded.is_empty());
    }

    #[test]
    fn the_rest_of_a_long_file_is_left_out() {
        let long = "字".repeat(MAX_BYTES);
        let found = read(&[("AGENTS.md", &format!("First.\n{long}\n"))]);
        assert_eq!(found.text, "First.\n");
        assert_eq!(
            found.skipped,
            ["the rest of AGENTS.md (the limit for all files of the user is 32 KiB)"]
        );
    }
}
