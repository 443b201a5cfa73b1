//! [`Screen`]: what the chat itself says, beside the turns.

use crate::{
    exit::Failure,
    output,
    render::{Palette, wrapped},
};

/// The terminal's screen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Screen {
    /// Its colours.
    pub(super) palette: Palette,
}

impl Screen {
    /// Writes text as it is.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) fn print(self, text: &str) -> Result<(), Failure> {
        output::print(text)
    }

    /// Says something by the way.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) fn note(self, text: &str) -> Result<(), Failure> {
        let dim = self.palette.dim;
        self.print(&format!("{dim}{}{dim:#}\n", wrapped(text, 0)))
    }

    /// Says who speaks now.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) fn speaker(self, name: &str) -> Result<(), Failure> {
        let style = self.palette.prompt;
        self.print(&format!("\n{style}{name}{style:#}\n"))
    }

    /// Asks.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) fn question(self, text: &str) -> Result<(), Failure> {
        let style = self.palette.question;
        self.print(&format!("{style}{text}{style:#}\n"))
    }

    /// Says what went wrong.
    ///
    /// # Errors
    /// When the terminal has gone.
    pub(super) fn fault(self, text: &str) -> Result<(), Failure> {
        let bad = self.palette.bad;
        self.print(&format!("{bad}✗ {}{bad:#}\n", wrapped(text, 2)))
    }
}
