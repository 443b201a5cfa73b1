//! [`Output`]: what is rendered, held to its size limit and indented where a partial is.

use std::fmt;

use crate::{
    error::{PromptError, PromptErrorKind},
    value::TextSink,
};

/// What is rendered, on its way to the writer.
pub(super) struct Output<'o, W: ?Sized> {
    writer: &'o mut W,
    limit: usize,
    /// Bytes that may still be written.
    left: usize,
    /// The blanks before each line of the partials being rendered.
    indent: String,
    /// Whether the next text, if it is indented, begins a line.
    line_start: bool,
}

/// An output's indentation before a partial changed it.
pub(super) struct Indentation {
    len: usize,
    line_start: bool,
    left: usize,
}

impl<'o, W: fmt::Write + ?Sized> Output<'o, W> {
    pub(super) fn new(writer: &'o mut W, limit: usize) -> Self {
        Self {
            writer,
            limit,
            left: limit,
            indent: String::new(),
            line_start: false,
        }
    }

    /// Indents each line that follows by these blanks too.
    pub(super) fn indent(&mut self, blanks: &str) -> Indentation {
        let before = Indentation {
            len: self.indent.len(),
            line_start: self.line_start,
            left: self.left,
        };
        if !blanks.is_empty() {
            self.indent.push_str(blanks);
            self.line_start = true;
        }
        before
    }

    /// Goes back to an earlier indentation.
    pub(super) fn unindent(&mut self, before: &Indentation) {
        self.indent.truncate(before.len);
        if self.left == before.left {
            self.line_start = before.line_start;
        }
    }

    #[inline]
    fn write(&mut self, text: &str) -> Result<(), PromptError> {
        let Some(left) = self.left.checked_sub(text.len()) else {
            return Err(PromptErrorKind::Size { limit: self.limit }.into());
        };
        self.left = left;
        self.writer
            .write_str(text)
            .map_err(|fault| PromptError::caused(PromptErrorKind::Write, fault))
    }

    #[cold]
    fn write_indented(&mut self, text: &str) -> Result<(), PromptError> {
        let indent = std::mem::take(&mut self.indent);
        let written = text.split_inclusive('\n').try_for_each(|line| {
            if std::mem::replace(&mut self.line_start, line.ends_with('\n')) {
                self.write(&indent)?;
            }
            self.write(line)
        });
        self.indent = indent;
        written
    }
}

impl<W: fmt::Write + ?Sized> TextSink for Output<'_, W> {
    type Error = PromptError;

    #[inline]
    fn text(&mut self, text: &str) -> Result<(), PromptError> {
        if self.indent.is_empty() {
            self.write(text)
        } else {
            self.write_indented(text)
        }
    }
}
