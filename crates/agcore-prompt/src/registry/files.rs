//! Template files: the one place of the crate that reads any.
#![expect(
    clippy::disallowed_methods,
    reason = "the registry loads the files and folders it is told to"
)]

use std::{
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
};

use crate::error::{PromptError, PromptErrorKind};

/// Reads a template's file, without the mark that some editors put first.
pub(super) fn read(path: &Path) -> Result<String, PromptError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(fault) => Err(PromptError::caused(
            PromptErrorKind::Io { path: path.to_owned() },
            fault,
        )),
    }
}

/// The files below a folder that have this extension, each with the name of its template, sorted.
pub(super) fn list(folder: &Path, extension: &str) -> Result<Vec<(String, PathBuf)>, PromptError> {
    let mut found = Vec::new();
    let mut waiting = vec![(String::new(), folder.to_owned())];
    while let Some((prefix, folder)) = waiting.pop() {
        let unreadable = |fault| PromptError::caused(PromptErrorKind::Io { path: folder.clone() }, fault);
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            match visit(&entry.map_err(unreadable)?, &prefix, extension).map_err(unreadable)? {
                Some(Visited::File(name, path)) => found.push((name, path)),
                Some(Visited::Folder(name, path)) => waiting.push((name + "/", path)),
                None => {}
            }
        }
    }
    found.sort_unstable();
    Ok(found)
}

/// What an entry of a folder is, with its name among the templates.
enum Visited {
    File(String, PathBuf),
    Folder(String, PathBuf),
}

fn visit(entry: &DirEntry, prefix: &str, extension: &str) -> io::Result<Option<Visited>> {
    let path = entry.path();
    let Some(name) = path
        .file_name()
        .and_then(|name| name.to_str())
        .filter(|name| !name.starts_with('.'))
    else {
        return Ok(None);
    };
    if entry.file_type()?.is_dir() {
        return Ok(Some(Visited::Folder(format!("{prefix}{name}"), path)));
    }
    // Links to folders are not followed: they may lead round in a circle.
    let template = name.strip_suffix(extension).and_then(|stem| stem.strip_suffix('.'));
    match template
        .filter(|stem| !stem.is_empty())
        .map(|stem| format!("{prefix}{stem}"))
    {
        Some(name) if fs::metadata(&path)?.is_file() => Ok(Some(Visited::File(name, path))),
        _ => Ok(None),
    }
}
