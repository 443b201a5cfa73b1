//! The resources of the process: standard output and environment variables.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
    path::PathBuf,
};

use crate::TerminalError;

/// Writes text to standard output unchanged and flushes it.
///
/// # Errors
/// When the output cannot be written, for example because its reader has gone away.
pub fn print(text: &str) -> Result<(), TerminalError> {
    let mut output = io::stdout();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(TerminalError::Output)
}

/// Returns the current directory, or `None` if it is unknown.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub fn current_directory() -> Option<String> {
    env::current_dir().ok().map(|path| path.display().to_string())
}

/// Returns the value of an environment variable, or `None` if it is unset, empty or not UTF-8.
pub fn variable(name: &str) -> Option<String> {
    os_variable(name)?.into_string().ok()
}

/// Returns the value of an environment variable, or `None` if it is unset or empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub fn os_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the names of all environment variables that are UTF-8.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub fn variable_names() -> impl Iterator<Item = String> {
    env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}

/// Returns a path as typed by the user: a leading `~` is the home folder.
pub fn expand_home(path: &str) -> PathBuf {
    let home = || os_variable("HOME").or_else(|| os_variable("USERPROFILE").filter(|_| cfg!(windows)));
    let rest = path.strip_prefix('~');
    match rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).zip(home()) {
        Some((rest, home)) => PathBuf::from(home).join(rest.trim_start_matches('/')),
        None => PathBuf::from(path),
    }
}

/// Returns a text as a word of a shell, in quotation marks if it needs them.
///
/// ```
/// use agcore_terminal::process::shell_word;
///
/// assert_eq!(shell_word("a/b.txt"), "a/b.txt");
/// assert_eq!(shell_word("it's $(x)"), r"'it'\''s $(x)'");
/// assert_eq!(shell_word("-x"), "'-x'");
/// ```
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-~:@+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) && !text.starts_with(['-', '~']) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_leading_tilde_is_the_home_folder() {
        for path in ["a/~", "~ann/x", "/a", ""] {
            assert_eq!(expand_home(path), PathBuf::from(path));
        }
        if let Some(home) = os_variable("HOME").filter(|_| cfg!(unix)) {
            assert_eq!(expand_home("~/a b"), PathBuf::from(&home).join("a b"));
            assert_eq!(expand_home("~"), PathBuf::from(home));
        }
    }
}
