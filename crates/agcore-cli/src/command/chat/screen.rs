//! [`Screen`]: the chat's own output, as opposed to that of turns.

use agcore_terminal::{
    process,
    render::{Palette, hanging, sanitized, wrapped, wrapped_list},
};

use crate::exit::Failure;

/// Writes the chat's own messages to the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    /// The styles.
    pub(super) palette: Palette,
}

impl Screen {
    /// Writes text unchanged.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn print(self, text: &str) -> Result<(), Failure> {
        Ok(process::print(text)?)
    }

    /// Writes a list, wrapped so that second columns stay aligned.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn list(self, text: &str) -> Result<(), Failure> {
        self.print(&wrapped_list(&sanitized(text)))
    }

    /// Writes a note.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn note(self, text: &str) -> Result<(), Failure> {
        let dim = self.palette.dim;
        self.print(&format!("{dim}{}{dim:#}\n", wrapped(&sanitized(text), 0)))
    }

    /// Writes the heading of a speaker.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn speaker(self, name: &str) -> Result<(), Failure> {
        let style = self.palette.prompt;
        self.print(&format!("\n{style}{name}{style:#}\n"))
    }

    /// Writes a question.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn question(self, text: &str) -> Result<(), Failure> {
        let style = self.palette.question;
        self.print(&format!("{style}{}{style:#}\n", wrapped(&sanitized(text), 2)))
    }

    /// Writes an error.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn error(self, text: &str) -> Result<(), Failure> {
        let style = self.palette.error;
        self.print(&format!("{style}{}{style:#}\n", hanging("✗ ", &sanitized(text))))
    }
}
