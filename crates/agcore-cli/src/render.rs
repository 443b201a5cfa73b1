//! Rendering of turns: [`Terminal`] for people, [`JsonLines`] for programs.

mod style;
mod text;
mod usage;
mod context;
mod layout;
mod markdown;
mod status;
mod card;
mod terminal;

pub(crate) use context::compaction_line;
pub(crate) use layout::wrapped;
pub(crate) use status::TICK;
pub(crate) use style::{Color, Palette};
pub(crate) use terminal::Terminal;
pub(crate) use text::{columns, sanitized, sanitized_line, truncated};
pub(crate) use usage::usage_line;

use std::io::{self, Write};

use agcore::StreamEvent;

/// Renders the events of a turn as they arrive.
pub(crate) trait Render: Send {
    /// Renders one event.
    ///
    /// # Errors
    /// When the output is closed.
    fn event(&mut self, event: &StreamEvent) -> io::Result<()>;

    /// Erases the progress display, before something else is written.
    ///
    /// # Errors
    /// When the output is closed.
    fn hide(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Shows these arguments of a call in place of the model's.
    fn set_edited(&mut self, _call_id: String, _arguments: String) {}

    /// Updates the progress display. Called every [`TICK`] while no event arrives.
    ///
    /// # Errors
    /// When the output is closed.
    fn tick(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes each event as one line of JSON.
#[derive(Debug)]
pub(crate) struct JsonLines<W>(pub(crate) W);

impl<W: Write + Send> Render for JsonLines<W> {
    fn event(&mut self, event: &StreamEvent) -> io::Result<()> {
        serde_json::to_writer(&mut self.0, event)?;
        self.0.write_all(b"\n")?;
        self.0.flush()
    }
}
