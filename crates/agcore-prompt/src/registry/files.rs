//! Reading template files. No other module of the crate accesses the file system.
#![expect(
    clippy::disallowed_methods,
    reason = "the registry reads the files and folders it is asked to load"
)]

use std::{
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
};

use crate::error::{PromptError, PromptErrorKind};

/// Reads a template file and strips the byte order mark that some editors write.
pub(super) fn read(path: &Path) -> Result<String, PromptError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => Err(PromptError::with_source(
            PromptErrorKind::Io { path: path.to_owned() },
            error,
        )),
    }
}

/// Lists the files with this extension in a folder and its subfolders with their template names, sorted by name.
pub(super) fn list(folder: &Path, extension: &str) -> Result<Vec<(String, PathBuf)>, PromptError> {
    let mut found = Vec::new();
    let mut pending = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = pending.pop() {
        let unreadable = |error| PromptError::with_source(PromptErrorKind::Io { path: folder.clone() }, error);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            match classify(&entry.map_err(unreadable)?, &prefix, extension).map_err(unreadable)? {
                Some(Found::File(name, path)) => found.push((name, path)),
                Some(Found::Folder(name, path)) => pending.push((name + "/", path)),
                None => {}
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// A relevant entry of a folder, with its template name or name prefix.
enum Found {
    File(String, PathBuf),
    Folder(String, PathBuf),
}

fn classify(entry: &DirEntry, prefix: &str, extension: &str) -> io::Result<Option<Found>> {
    let path = entry.path();
    let Some(name) = path
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| !name.starts_with('.'))
    else {
        return Ok(None);
    };
    if entry.file_type()?.is_dir() {
        return Ok(Some(Found::Folder(format!("{prefix}{name}"), path)));
    }
    // Symbolic links to folders are not followed because they may form a cycle.
    let template = name.strip_suffix(extension).and_then(|stem| stem.strip_suffix('.'));
    match template
        .filter(|stem| !stem.is_empty())
        .map(|stem| format!("{prefix}{stem}"))
    {
        Some(name) if fs::metadata(&path)?.is_file() => Ok(Some(Found::File(name, path))),
        _ => Ok(None),
    }
}
