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
    /// Where in these the blanks begin that the next text gets; none when it goes on with a line.
    due: Option<usize>,
}

/// An output's indentation before a partial changed it.
pub(super) struct Indentation {
    len: usize,
    due: Option<usize>,
    left: usize,
}

impl<'o, W: fmt::Write + ?Sized> Output<'o, W> {
    pub(super) fn new(writer: &'o mut W, limit: usize) -> Self {
        Self {
            writer,
            limit,
            left: limit,
            indent: String::new(),
            due: None,
        }
    }

    /// Indents each line that follows by these blanks too.
    pub(super) fn indent(&mut self, blanks: &str) -> Indentation {
        let before = Indentation {
            len: self.indent.len(),
            due: self.due,
            left: self.left,
        };
        if !blanks.is_empty() {
            self.indent.push_str(blanks);
            // In the middle of a line only these blanks are due, not those around them.
            self.due = self.due.or(Some(before.len));
        }
        before
    }

    /// Goes back to an earlier indentation.
    pub(super) fn unindent(&mut self, before: &Indentation) {
        self.indent.truncate(before.len);
        if self.left == before.left {
            self.due = before.due;
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
            if let Some(from) = self.due.take() {
                self.write(&indent[from..])?;
            }
            self.due = line.ends_with('\n').then_some(0);
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
