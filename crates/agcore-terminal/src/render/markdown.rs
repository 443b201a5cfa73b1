//! [`Markdown`]: formats an answer for the terminal while it is streamed.
//!
//! Output is never changed once it was written: a word is held back until it is complete, a mark until its meaning is
//! known, the beginning of a line until it shows what kind of line it is. The output is therefore independent of how
//! the text is split into pieces. Existing parsers need the whole text and cannot do this. A table is held back until it
//! ends, because the widths of its columns depend on all rows.
mod block;
mod code_style;
mod highlight;
mod inline;
mod spans;
mod table;

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

use self::{
    block::{BlockKind, LineStart},
    highlight::Highlighter,
    spans::write_spans,
    table::Table,
};
use super::{
    Theme,
    layout::{Layout, styled},
    text::{sanitized, truncated},
};

/// The longest line of code that is colored, in bytes. It is held back until it is complete.
const MAX_COLORED_LINE: usize = 2_000;

/// The line before and after a block of code.
const FENCE: &str = "───";

/// The maximum width of a horizontal rule.
const MAX_RULE_WIDTH: usize = 40;

/// Formats Markdown piece by piece.
#[derive(Debug)]
pub(crate) struct Markdown {
    /// Whether styles replace the marks. Otherwise the marks are kept and there are no escape codes.
    has_styles: bool,
    theme: Theme,
    layout: Layout,
    width: usize,
    line: Line,
    /// The open code fence: its character and length.
    fence: Option<(char, usize)>,
    /// Colors the lines of the open code block, if its language is known.
    highlighter: Option<Highlighter>,
    /// The open table, or a line that may be its head.
    table: Option<Table>,
    /// Whether to write an empty line before the next line. None is written before the first line or after the last.
    is_blank_pending: bool,
    has_started: bool,
}

/// The incomplete line.
#[derive(Debug)]
enum Line {
    /// A beginning that does not show yet what kind of line it is.
    Start(String),
    /// Text in a style: the part not written yet, and the character before it.
    Text {
        style: Style,
        rest: String,
        before: Option<char>,
    },
    /// A line of code, which is written as it arrives.
    Code,
    /// A line of code that is colored when it is complete.
    ColoredCode(String),
}

impl Markdown {
    /// Creates a formatter, with styles or with the marks kept.
    pub(crate) fn new(has_styles: bool, theme: Theme) -> Self {
        Self {
            has_styles,
            theme,
            layout: Layout::new(usize::MAX / 2),
            width: usize::MAX / 2,
            line: Line::Start(String::new()),
            fence: None,
            highlighter: None,
            table: None,
            is_blank_pending: false,
            has_started: false,
        }
    }

    /// Writes links for a terminal that has them.
    pub(crate) fn with_links(mut self, has_links: bool) -> Self {
        self.layout.has_links = has_links && self.has_styles;
        self
    }

    /// Sets the width, from the next line break on.
    pub(crate) fn set_width(&mut self, columns: usize) {
        self.width = columns;
        self.layout.set_width(columns);
    }

    /// Returns whether the output is at the start of a line, with nothing held back.
    pub(crate) fn is_at_line(&self) -> bool {
        self.table.is_none() && matches!(&self.line, Line::Start(held) if held.is_empty())
    }

    /// Returns the column of the cursor. Text that is held back is not on the screen yet.
    pub(crate) fn column(&self) -> usize {
        self.layout.column()
    }

    /// Adds a piece of the answer.
    pub(crate) fn push(&mut self, text: &str, out: &mut String) {
        let text = text.replace('\r', "");
        let text = sanitized(&text);
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                None => self.push_line_part(piece, out),
                Some(end) => {
                    self.push_line_part(end, out);
                    self.end_line(out);
                }
            }
        }
    }

    /// Ends the answer. Another one may follow.
    pub(crate) fn finish(&mut self, out: &mut String) {
        if !self.is_at_line() {
            self.end_line(out);
        }
        self.end_table(out);
        if self.fence.take().is_some() {
            self.write_fence("", out);
        }
        self.highlighter = None;
        self.is_blank_pending = false;
        self.has_started = false;
    }

    /// Adds text to the line.
    fn push_line_part(&mut self, text: &str, out: &mut String) {
        match &mut self.line {
            Line::Start(held) => {
                held.push_str(text);
                self.classify(false, out);
            }
            Line::Text { rest, .. } => {
                rest.push_str(text);
                self.write_text(false, out);
            }
            Line::Code => self.layout.verbatim(text, out),
            Line::ColoredCode(held) => {
                held.push_str(text);
                self.limit_colored_line(out);
            }
        }
    }

    fn end_line(&mut self, out: &mut String) {
        if let Line::Start(_) = self.line {
            self.classify(true, out);
        }
        match &self.line {
            // A blank line or a code fence, which has no output.
            Line::Start(_) => {}
            Line::ColoredCode(code) => {
                let colored = self.highlighter.as_mut().map(|highlighter| highlighter.line(code));
                self.layout.verbatim(&colored.unwrap_or_default(), out);
                self.layout.end(out);
            }
            Line::Text { .. } => {
                self.write_text(true, out);
                self.layout.end(out);
            }
            Line::Code => {
                let _ = write!(out, "{:#}", self.code_style());
                self.layout.end(out);
            }
        }
        self.line = Line::Start(String::new());
    }

    /// Classifies the line if possible, and writes the text that was held back.
    fn classify(&mut self, is_whole: bool, out: &mut String) {
        let Line::Start(held) = &mut self.line else {
            return;
        };
        let held = std::mem::take(held);
        let is_classified = match self.fence {
            Some((mark, count)) => self.classify_code(&held, mark, count, is_whole, out),
            None => match block::classify(&held, is_whole) {
                Some(start) => {
                    self.begin(&start, &held, out);
                    true
                }
                None => false,
            },
        };
        if !is_classified {
            self.line = Line::Start(held);
        }
    }

    /// Handles a line within a code block, or the fence that closes it.
    fn classify_code(&mut self, held: &str, mark: char, count: usize, is_whole: bool, out: &mut String) -> bool {
        match block::closes_fence(held, mark, count, is_whole) {
            None => return false,
            Some(false) => self.begin_code(held, out),
            Some(true) => {
                self.fence = None;
                self.highlighter = None;
                match self.has_styles {
                    true => self.write_fence("", out),
                    false => self.begin_code(held, out),
                }
            }
        }
        true
    }

    fn begin(&mut self, start: &LineStart, line: &str, out: &mut String) {
        if self.has_styles && self.push_table_line(start, line, out) {
            return;
        }
        self.end_table(out);
        if start.kind == BlockKind::Blank && start.quotes == 0 {
            self.is_blank_pending = self.has_started;
            return;
        }
        self.write_pending_blank(out);
        if let BlockKind::Fence(mark, count) = start.kind {
            self.fence = Some((mark, count));
            if self.has_styles {
                let info = line[start.bytes..].trim_start_matches(mark);
                self.highlighter = Highlighter::for_language(info, self.theme);
                return self.write_fence(info.split_whitespace().next().unwrap_or_default(), out);
            }
        }
        let (head, indent, columns) = self.head(start);
        self.layout.begin(&head, indent, columns, out);
        let (style, rest) = self.content(start, line, columns);
        self.line = Line::Text {
            style,
            rest,
            before: None,
        };
        self.write_text(false, out);
    }

    /// Writes the line before or after a block of code, so that it is not taken for text. Without styles, the fences stay.
    fn write_fence(&mut self, language: &str, out: &mut String) {
        if !self.has_styles {
            return;
        }
        self.write_pending_blank(out);
        let label = match language {
            "" => FENCE.to_owned(),
            language => truncated(&format!("{FENCE} {language}"), MAX_RULE_WIDTH.min(self.width)),
        };
        self.layout.begin("", String::new(), 0, out);
        self.layout
            .verbatim(&format!("{0}{label}{0:#}", Style::new().dimmed()), out);
        self.layout.end(out);
    }

    /// Adds a line to the open table, or starts one. Returns `false` if the line does not belong to a table.
    fn push_table_line(&mut self, start: &LineStart, line: &str, out: &mut String) -> bool {
        let text = &line[start.bytes..];
        let is_added = match (&start.kind, &mut self.table) {
            (BlockKind::TableRow, Some(table)) => table.push_row(text),
            (BlockKind::TableRule, Some(table)) => table.push_rule(text) || table.push_row(text),
            _ => false,
        };
        if is_added {
            if let Some(table) = self.table.as_mut().filter(|table| table.is_full()) {
                table.write(self.width, out);
            }
        } else if start.kind == BlockKind::TableRow {
            self.end_table(out);
            self.write_pending_blank(out);
            let (_, indent, columns) = self.head(start);
            self.table = Some(Table::new(text, indent, columns));
        } else {
            return false;
        }
        true
    }

    /// Writes the part of a table that is held back.
    fn end_table(&mut self, out: &mut String) {
        let Some(mut table) = self.table.take() else {
            return;
        };
        let Some(line) = table.text() else {
            return table.write(self.width, out);
        };
        let (indent, columns) = table.indent();
        self.layout.begin(&indent, indent.clone(), columns, out);
        write_spans(&mut self.layout, Style::new(), line, &mut None, true, out);
        self.layout.end(out);
    }

    /// Writes the pending empty line.
    fn write_pending_blank(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_blank_pending) {
            out.push('\n');
        }
        self.has_started = true;
    }

    /// Returns the head of a line, the indent of its continuation lines, and the width of both.
    fn head(&self, start: &LineStart) -> (String, String, usize) {
        let dim = self.style(Style::new().dimmed());
        let mut bars = String::new();
        let bar = if self.has_styles { "│ " } else { "> " };
        styled(dim, &bar.repeat(start.quotes), &mut bars);
        bars.push_str(&" ".repeat(start.indent));
        let mark = match &start.kind {
            BlockKind::Item(Some(number)) => format!("{number} "),
            BlockKind::Item(None) if self.has_styles => "• ".to_owned(),
            BlockKind::Item(None) => "- ".to_owned(),
            _ => String::new(),
        };
        let columns = mark.chars().count();
        let indent = bars.clone() + &" ".repeat(columns);
        (bars + &mark, indent, start.quotes * 2 + start.indent + columns)
    }

    /// Returns the style and the text of a line.
    fn content(&self, start: &LineStart, line: &str, columns: usize) -> (Style, String) {
        let dim = Style::new().dimmed();
        let text = &line[start.bytes..];
        match start.kind {
            BlockKind::Rule if self.has_styles => {
                (dim, "─".repeat(MAX_RULE_WIDTH.min(self.width.saturating_sub(columns))))
            }
            BlockKind::TableRule => (dim, text.to_owned()),
            BlockKind::Heading if self.has_styles => (AnsiColor::Cyan.on_default().bold(), text.to_owned()),
            BlockKind::Heading => (Style::new(), line[..start.bytes].trim_start().to_owned() + text),
            _ => (Style::new(), text.to_owned()),
        }
    }

    /// Writes the part of the line's text whose formatting is known.
    fn write_text(&mut self, is_whole: bool, out: &mut String) {
        let Line::Text { style, rest, before } = &mut self.line else {
            return;
        };
        if !self.has_styles {
            self.layout.text(Style::new(), &std::mem::take(rest), out);
            return;
        }
        let done = write_spans(&mut self.layout, *style, rest, before, is_whole, out);
        rest.drain(..done);
    }

    /// Starts a line of code, whose style lasts until the line ends.
    fn begin_code(&mut self, text: &str, out: &mut String) {
        self.write_pending_blank(out);
        if self.highlighter.is_some() {
            self.line = Line::ColoredCode(text.to_owned());
            return self.limit_colored_line(out);
        }
        self.line = Line::Code;
        let _ = write!(out, "{}", self.code_style());
        self.layout.verbatim(text, out);
    }

    /// Writes a line of code that is too long to be held back, and stops coloring the block.
    fn limit_colored_line(&mut self, out: &mut String) {
        if let Line::ColoredCode(held) = &mut self.line
            && held.len() > MAX_COLORED_LINE
        {
            let held = std::mem::take(held);
            self.highlighter = None;
            self.begin_code(&held, out);
        }
    }

    fn code_style(&self) -> Style {
        self.style(AnsiColor::Green.on_default())
    }

    fn style(&self, style: Style) -> Style {
        if self.has_styles { style } else { Style::new() }
    }
}

#[cfg(test)]
mod tests;
