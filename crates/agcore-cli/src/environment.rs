//! Variables of the environment.

use std::env;

/// A variable's value; an empty one, or one that is no text, is none.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}

/// The names of all variables.
#[expect(
    clippy::disallowed_methods,
    reason = "the command line is where the environment is read"
)]
pub(crate) fn names() -> impl Iterator<Item = String> {
    env::vars_os().filter_map(|(name, _)| name.into_string().ok())
}
