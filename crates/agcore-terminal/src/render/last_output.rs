//! [`LastOutput`]: the kind of output written last, and writing to streams.

use std::io::{self, Write};

/// The kind of output that was written last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LastOutput {
    Line,
    Text,
    Reasoning,
}

/// Returns the kind of output written last after a piece of text.
pub(super) fn after(text: &str, before: LastOutput, within: LastOutput) -> LastOutput {
    match text {
        "" => before,
        text if text.ends_with('\n') => LastOutput::Line,
        _ => within,
    }
}

/// Returns the kind of output written last: this one, unless its line has ended.
pub(super) fn unless_at_line(is_at_line: bool, within: LastOutput) -> LastOutput {
    match is_at_line {
        true => LastOutput::Line,
        false => within,
    }
}

/// Writes text and flushes the stream.
pub(super) fn write_all(stream: &mut impl Write, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    stream.write_all(text.as_bytes())?;
    stream.flush()
}
