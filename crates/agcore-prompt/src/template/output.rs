//! [`Output`]: enforces the size limit and indents partials.

use std::fmt;

use crate::{
    error::{PromptError, PromptErrorKind},
    value::TextSink,
};

/// A wrapper around the writer that enforces the size limit and indents partials.
pub(super) struct Output<'o, W: ?Sized> {
    writer: &'o mut W,
    limit: usize,
    /// The number of bytes that may still be written.
    remaining: usize,
    /// The indentation of the partials being rendered.
    indent: String,
    /// The offset in `indent` from which the indentation is written before the next text. `None` in the middle of a line.
    pending: Option<usize>,
}

/// The indentation of an output before a partial changed it.
pub(super) struct Indentation {
    len: usize,
    pending: Option<usize>,
    remaining: usize,
}

impl<'o, W: fmt::Write + ?Sized> Output<'o, W> {
    pub(super) fn new(writer: &'o mut W, limit: usize) -> Self {
        Self {
            writer,
            limit,
            remaining: limit,
            indent: String::new(),
            pending: None,
        }
    }

    /// Adds whitespace to the indentation of the following lines and returns the previous indentation.
    pub(super) fn indent(&mut self, whitespace: &str) -> Indentation {
        let before = Indentation {
            len: self.indent.len(),
            pending: self.pending,
            remaining: self.remaining,
        };
        if !whitespace.is_empty() {
            self.indent.push_str(whitespace);
            // In the middle of a line only the new whitespace is written, not the outer indentation.
            self.pending = self.pending.or(Some(before.len));
        }
        before
    }

    /// Restores a previous indentation.
    pub(super) fn restore(&mut self, before: &Indentation) {
        self.indent.truncate(before.len);
        if self.remaining == before.remaining {
            self.pending = before.pending;
        }
    }

    #[inline]
    fn write(&mut self, text: &str) -> Result<(), PromptError> {
        let Some(remaining) = self.remaining.checked_sub(text.len()) else {
            return Err(PromptErrorKind::Size { limit: self.limit }.into());
        };
        self.remaining = remaining;
        self.writer
            .write_str(text)
            .map_err(|error| PromptError::with_source(PromptErrorKind::Write, error))
    }

    #[cold]
    fn write_indented(&mut self, text: &str) -> Result<(), PromptError> {
        let indent = std::mem::take(&mut self.indent);
        let result = text.split_inclusive('\n').try_for_each(|line| {
            if let Some(from) = self.pending.take() {
                self.write(&indent[from..])?;
            }
            self.pending = line.ends_with('\n').then_some(0);
            self.write(line)
        });
        self.indent = indent;
        result
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
