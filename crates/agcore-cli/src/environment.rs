//! Environment variables. All of the program's variables are read here.
#![expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]

use std::{env, ffi::OsString};

/// Returns the value of a variable, or `None` if it is unset, empty or not UTF-8.
pub(crate) fn variable(name: &str) -> Option<String> {
    os_variable(name)?.into_string().ok()
}

/// Returns the value of a variable, or `None` if it is unset or empty.
pub(crate) fn os_variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// Returns the names of all variables that are UTF-8.
pub(crate) fn names() -> impl Iterator<Item = String> {
    env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}
