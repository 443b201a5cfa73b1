//! Reads and writes text files of the folder.

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use agcore::tools::{ToolContext, ToolError};
use cap_std::fs::{Dir, OpenOptions};

use super::{
    change::Change,
    file_name::shown,
    folder::{ToolFolder, refusal},
};

/// The largest file that tools read or write, in bytes.
pub(super) const MAX_FILE: u64 = 4 * 1024 * 1024;

/// The ending of a file that is not complete yet.
const INCOMPLETE: &str = ".agcore-new";

/// Reads a text file by its path without links: as it is in the editor, if it is open in one.
///
/// # Errors
/// When it is not a regular file, too large, or not text.
pub(super) fn read(folder: &ToolFolder, path: &Path) -> Result<String, ToolError> {
    match folder.opened().read(&folder.path().join(path)) {
        Some(text) => checked(text.into_bytes(), &shown(path)),
        None => read_saved(folder, path),
    }
}

/// Reads a text file by its path without links, as it is saved.
///
/// # Errors
/// As [`read`].
pub(super) fn read_saved(folder: &ToolFolder, path: &Path) -> Result<String, ToolError> {
    let name = shown(path);
    let bytes = bytes(folder.handle(), path).map_err(|error| refusal("read", &name, &error))?;
    checked(bytes, &name)
}

fn checked(bytes: Vec<u8>, name: &str) -> Result<String, ToolError> {
    if bytes.len() as u64 > MAX_FILE {
        return Err(ToolError::failed(format!(
            "cannot read {name}: it is larger than {} MiB",
            MAX_FILE / 1024 / 1024
        )));
    }
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(ToolError::failed(format!("cannot read {name}: it is not a text file"))),
    }
}

/// Reads a text file, or returns `None` if it does not exist.
///
/// # Errors
/// As [`read`].
pub(super) fn read_if_exists(folder: &ToolFolder, path: &Path) -> Result<Option<String>, ToolError> {
    match folder.handle().symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        _ => read(folder, path).map(Some),
    }
}

/// Writes a file completely or not at all, and creates its directory if it is missing.
///
/// # Errors
/// When it cannot be written.
pub(super) fn write(folder: &ToolFolder, path: &Path, text: &str) -> Result<(), ToolError> {
    let name = shown(path);
    if folder.opened().has_editor() {
        create_parent(folder.handle(), path).map_err(|error| refusal("write", &name, &error))?;
    }
    match folder.opened().write(&folder.path().join(path), text) {
        Ok(true) => return Ok(()),
        Ok(false) => {}
        Err(reason) => return Err(ToolError::failed(format!("cannot write {name}: {reason}"))),
    }
    replace(folder.handle(), path, text).map_err(|error| refusal("write", &name, &error))
}

/// Writes the change, and remembers it. Returns its description for the model.
///
/// # Errors
/// When the file is not the one that was approved, or cannot be written.
pub(super) fn apply(folder: &ToolFolder, context: &ToolContext, change: &Change) -> Result<String, ToolError> {
    let call_id = context.call_id();
    folder.check_confirmed(call_id, &change.path)?;
    let was_shown = folder
        .approved()
        .check(call_id, &change.path, change.before.as_deref())?;
    write(folder, &change.path, &change.after)?;
    folder.undo().record(change);
    folder.unasked().record_edit(call_id, || change.edit(folder.path()));
    if !was_shown {
        folder.unasked().record(call_id, change);
    }
    Ok(change.summary())
}

fn bytes(handle: &Dir, path: &Path) -> io::Result<Vec<u8>> {
    // A pipe would block when it is opened.
    if !handle.metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    handle.open(path)?.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn replace(handle: &Dir, path: &Path, text: &str) -> io::Result<()> {
    create_parent(handle, path)?;
    let permissions = match handle.metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(io::Error::other("it is not a regular file")),
        Ok(metadata) => Some(metadata.permissions()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let incomplete = incomplete(path);
    let mut options = OpenOptions::new();
    let mut file = handle.open_with(&incomplete, options.write(true).create_new(true))?;
    let written = file.write_all(text.as_bytes()).and_then(|()| match permissions {
        Some(permissions) => file.set_permissions(permissions),
        None => Ok(()),
    });
    let replaced = written.and_then(|()| handle.rename(&incomplete, handle, path));
    if replaced.is_err() {
        // The first error is the one to report.
        let _ = handle.remove_file(&incomplete);
    }
    replaced
}

fn create_parent(handle: &Dir, path: &Path) -> io::Result<()> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => handle.create_dir_all(parent),
        None => Ok(()),
    }
}

fn incomplete(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(INCOMPLETE);
    path.with_file_name(name)
}
