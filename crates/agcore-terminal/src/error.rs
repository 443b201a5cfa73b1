//! [`TerminalError`]: why a terminal or an output cannot be used.

use std::io;

/// The error of reading from a terminal, or of writing to one or to another output.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TerminalError {
    /// The output cannot be written. Its kind is [`BrokenPipe`](io::ErrorKind::BrokenPipe) if its reader has gone away.
    #[error("cannot write the output: {0}")]
    Output(#[source] io::Error),
    /// The line editor cannot use the terminal.
    #[error("cannot use the terminal: {0}")]
    Open(String),
    /// The line editor cannot read a line.
    #[error("cannot read from the terminal: {0}")]
    Read(String),
}
