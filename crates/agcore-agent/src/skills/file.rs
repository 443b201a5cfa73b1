//! Reads the files of a skill: only regular files of limited size, and only inside of its folder.

use std::{
    fs,
    io::Read,
    path::{Component, Path, PathBuf},
};

/// The largest file, in bytes.
const MAX_FILE: u64 = 256 * 1024;

/// The largest number of files that are listed.
const MAX_FILES: usize = 200;

/// The deepest folder whose files are listed.
const MAX_DEPTH: usize = 4;

/// Reads a file of a folder, whose path must have no links.
///
/// # Errors
/// Why the file is not read.
pub(super) fn read_text(folder: &Path, name: &str) -> Result<String, String> {
    let relative = Path::new(name);
    let is_plain = |component: Component<'_>| matches!(component, Component::Normal(_) | Component::CurDir);
    if !relative.components().all(is_plain) {
        return Err("the path must be relative to the folder of the skill, without `..`".to_owned());
    }
    let path = fs::canonicalize(folder.join(relative)).map_err(|_| "there is no such file".to_owned())?;
    if !path.starts_with(folder) {
        return Err("it is a link that leads out of the folder of the skill".to_owned());
    }
    // Opening a pipe would wait for its other end.
    if !path.is_file() {
        return Err("it is not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(MAX_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE {
        return Err(format!("it is larger than {} KiB", MAX_FILE / 1024));
    }
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned())
}

/// Returns the paths of the files of a folder, relative to it and sorted, without `except`. Links are left out.
pub(super) fn list(folder: &Path, except: &str) -> Vec<String> {
    let (mut files, mut pending) = (Vec::new(), vec![(PathBuf::new(), 0)]);
    while let Some((relative, depth)) = pending.pop() {
        let mut entries: Vec<_> = fs::read_dir(folder.join(&relative))
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let path = relative.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < MAX_DEPTH => pending.push((path, depth + 1)),
                Ok(kind) if kind.is_file() && path != Path::new(except) => files.push(path.display().to_string()),
                _ => {}
            }
            if files.len() >= MAX_FILES {
                return files;
            }
        }
    }
    files.sort();
    files
}
