//! [`Screen`]: the chat's own output, as opposed to that of turns.

use agcore_terminal::{
    process,
    render::{Palette, columns, hanging, sanitized, truncated, window_width, wrapped, wrapped_list},
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

    /// Writes the heading of a speaker with a status, which is cut to the width of the window.
    ///
    /// # Errors
    /// When the terminal was closed.
    pub(super) fn heading(self, name: &str, status: &str) -> Result<(), Failure> {
        // A line that fills the window would wrap.
        let status = truncated(status, window_width().saturating_sub(columns(name) + 3));
        if status.is_empty() {
            return self.speaker(name);
        }
        let (style, dim) = (self.palette.prompt, self.palette.dim);
        self.print(&format!("\n{style}{name}{style:#}  {dim}{status}{dim:#}\n"))
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
