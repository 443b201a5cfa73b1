//! Standard output of the program.

use agcore_terminal::{process, render};

use crate::exit::Failure;

/// Writes text to standard output unchanged and flushes it.
///
/// # Errors
/// When the output cannot be written, for example because its reader has gone away.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    Ok(process::print(text)?)
}

/// Prints a list to standard output, wrapped if that is a terminal, without control characters.
///
/// # Errors
/// When the output cannot be written.
pub(crate) fn print_list(text: &str) -> Result<(), Failure> {
    Ok(render::print_list(text)?)
}
