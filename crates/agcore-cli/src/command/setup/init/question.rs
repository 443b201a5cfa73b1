//! [`Questions`]: asks at the terminal.

use agcore_terminal::{
    console::{Console, Line},
    render::{Color, wrapped},
};

use crate::{exit::Failure, input::confirm};

/// Asks at the terminal.
pub(super) struct Questions {
    console: Console,
}

impl Questions {
    /// Opens the terminal.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub(super) fn open(_color: Color) -> Result<Self, Failure> {
        Ok(Self {
            console: Console::open()?,
        })
    }

    /// Reads a line.
    ///
    /// # Errors
    /// When the user stops with Ctrl-C, Ctrl-D or Esc, or the terminal cannot be read.
    pub(super) async fn line(&self, prompt: &str) -> Result<String, Failure> {
        // The editor needs the space at the end, which wrapping removes.
        match self.console.read_line(&(wrapped(prompt, 2) + " ")).await? {
            Line::Entered(text) => Ok(text),
            Line::Interrupted | Line::Escaped | Line::Closed => Err(Failure::cancelled()),
        }
    }

    /// Reads yes or no. Enter alone is the default.
    ///
    /// # Errors
    /// When the user stops, or the terminal cannot be read.
    pub(super) async fn confirm(&self, prompt: &str, default: bool) -> Result<bool, Failure> {
        // The editor needs the space at the end, which wrapping removes.
        let answer = confirm(&self.console, &(wrapped(prompt, 2) + " "), Some(default)).await?;
        answer.ok_or_else(Failure::cancelled)
    }
}
