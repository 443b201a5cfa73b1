//! [`JsonLines`]: each event as one line of JSON.

use std::io::{self, Write};

use agcore::StreamEvent;

use super::Render;

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
