//! Standard output.

use std::io::{self, Write};

use crate::exit::Failure;

/// Writes text as it is, at once.
///
/// # Errors
/// When whoever reads the output has gone.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = io::stdout();
    let written = output.write_all(text.as_bytes()).and_then(|()| output.flush());
    written.map_err(|error| Failure::output(&error))
}
