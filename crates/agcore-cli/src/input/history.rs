//! The file that stores lines typed in chats for later chats.

use std::path::{Path, PathBuf};

use agcore_settings::places::{create_private_directory, state_directory};

/// The name of the file.
const FILE: &str = "history";

/// Returns the path of the history file and creates its directory. Returns `None` if there is no place for it.
///
/// # Errors
/// When the directory cannot be created.
pub(crate) fn history_file() -> Result<Option<PathBuf>, String> {
    let Some(directory) = state_directory() else {
        return Ok(None);
    };
    match create_private_directory(&directory) {
        Ok(()) => Ok(Some(directory.join(FILE))),
        Err(error) => Err(format!("{}: {error}", directory.display())),
    }
}

/// Returns the path of the history file like [`history_file`], but creates nothing.
///
/// # Errors
/// When the directory cannot be created or written.
pub(crate) fn check() -> Result<Option<PathBuf>, String> {
    let Some(directory) = state_directory() else {
        return Ok(None);
    };
    let existing = directory.ancestors().find(|path| path.exists());
    check_writable(existing.unwrap_or(&directory))?;
    Ok(Some(directory.join(FILE)))
}

fn check_writable(directory: &Path) -> Result<(), String> {
    if !directory.is_dir() {
        return Err(format!("{} is not a directory", directory.display()));
    }
    #[cfg(unix)]
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK)
        .map_err(|error| format!("{} is not writable: {error}", directory.display()))?;
    Ok(())
}
