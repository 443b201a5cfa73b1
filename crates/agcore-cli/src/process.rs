//! The resources of the process: standard output and environment variables.

use std::{
    env,
    ffi::OsString,
    io::{self, Write},
};

use crate::exit::Failure;

/// Writes text to standard output unchanged and flushes it.
///
/// # Errors
/// When the output cannot be written, for example because its reader has gone away.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Failure::output(&error))
}

/// Returns the current directory, or `None` if it is unknown.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn current_directory() -> Option<String> {
    env::current_dir().ok().map(|path| path.display().to_string())
}

/// Returns the value of an environment variable, or `None` if it is unset, empty or not UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    os_variable(name)?.into_string().ok()
}

/// Returns the value of an environment variable, or `None` if it is unset or empty.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn os_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the names of all environment variables that are UTF-8.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn variable_names() -> impl Iterator<Item = String> {
    env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}
