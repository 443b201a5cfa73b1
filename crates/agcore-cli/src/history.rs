//! Where what is typed in chats is kept for the next ones.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

/// The file of earlier lines, its folder made, where this machine has a place for such files: `$XDG_STATE_HOME`, else
/// `~/.local/state`, on Windows `%LOCALAPPDATA%`.
///
/// # Errors
/// When the folder cannot be made.
pub(crate) fn file() -> Result<Option<PathBuf>, String> {
    let Some(folder) = folder(variable) else {
        return Ok(None);
    };
    match make(&folder) {
        Ok(()) => Ok(Some(folder.join("history"))),
        Err(error) => Err(format!("{}: {error}", folder.display())),
    }
}

/// The folder that these variables tell.
fn folder(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    // What is relative is to be ignored: XDG Base Directory Specification 0.8.
    let whole = |name: &str| variable(name).filter(|path| path.is_absolute());
    let home = || whole("HOME").map(|home| home.join(".local").join("state"));
    let local = || whole("LOCALAPPDATA").filter(|_| cfg!(windows));
    let state = whole("XDG_STATE_HOME").or_else(local).or_else(home)?;
    Some(state.join("agcore"))
}

/// Makes a folder for its owner alone; one that is there stays as it is.
fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
fn variable(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_that_of_the_specification() {
        let check = |variables: &[(&str, &str)], expected: Option<&str>| {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| PathBuf::from(value))
            };
            assert_eq!(folder(variable), expected.map(PathBuf::from), "{variables:?}");
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
