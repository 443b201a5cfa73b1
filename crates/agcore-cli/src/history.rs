//! The file that stores lines typed in chats for later chats.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::process::os_variable;

/// Returns the path of the history file and creates its directory: `agcore/history` in `$XDG_STATE_HOME`, else in
/// `%LOCALAPPDATA%` on Windows, else in `~/.local/state`. Returns `None` if no variable names such a place.
///
/// # Errors
/// When the directory cannot be created.
pub(crate) fn history_file() -> Result<Option<PathBuf>, String> {
    let Some(directory) = state_directory(|name| os_variable(name).map(PathBuf::from)) else {
        return Ok(None);
    };
    match create_private_directory(&directory) {
        Ok(()) => Ok(Some(directory.join("history"))),
        Err(error) => Err(format!("{}: {error}", directory.display())),
    }
}

/// Returns the program's state directory according to these variables.
fn state_directory(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // Relative paths must be ignored: XDG Base Directory Specification 0.8.
    let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
    let home = || absolute("HOME").map(|home| home.join(".local").join("state"));
    let local = || absolute("LOCALAPPDATA").filter(|_| cfg!(windows));
    let state = absolute("XDG_STATE_HOME").or_else(local).or_else(home)?;
    Some(state.join("agcore"))
}

/// Creates a directory that only its owner can access. An existing directory is left unchanged.
fn create_private_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_state_directory_follows_the_xdg_specification() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| PathBuf::from(value))
            };
            assert_eq!(state_directory(variable), expected.map(PathBuf::from), "{variables:?}");
        };
        check(&[("XDG_STATE_HOME", "/s"), ("HOME", "/h")], Some("/s/agcore"));
        check(
            &[("XDG_STATE_HOME", "s"), ("HOME", "/h")],
            Some("/h/.local/state/agcore"),
        );
        check(&[("XDG_STATE_HOME", ""), ("LOCALAPPDATA", "/w")], None);
        check(&[], None);
    }
}
