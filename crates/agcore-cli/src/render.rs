//! How a turn is shown: [`Terminal`] for people, [`JsonLines`] for programs.

mod json_lines;
mod style;
mod text;
mod usage;
mod terminal;

pub(crate) use json_lines::JsonLines;
pub(crate) use style::Palette;
pub(crate) use terminal::Terminal;
pub(crate) use text::{harmless, harmless_line};
pub(crate) use usage::usage_line;

use std::io;

use agcore::StreamEvent;

/// Shows the events of a turn as they come.
pub(crate) trait Render: Send {
    /// Shows one event.
    ///
    /// # Errors
    /// When the output is closed.
    fn event(&mut self, event: &StreamEvent) -> io::Result<()>;
}
