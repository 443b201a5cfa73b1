//! How a turn is shown: [`Terminal`] for people, [`JsonLines`] for programs.

mod json_lines;
mod style;
mod text;
mod usage;
mod context;
mod window;
mod layout;
mod markdown;
mod live;
mod card;
mod terminal;

pub(crate) use context::made_shorter;
pub(crate) use json_lines::JsonLines;
pub(crate) use layout::wrapped;
pub(crate) use live::BEAT;
pub(crate) use style::{Colour, Palette};
pub(crate) use terminal::Terminal;
pub(crate) use text::{columns, harmless, harmless_line, shortened};
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

    /// Shows that time has passed; called every [`BEAT`] while nothing happens.
    ///
    /// # Errors
    /// When the output is closed.
    fn beat(&mut self) -> io::Result<()> {
        Ok(())
    }
}
