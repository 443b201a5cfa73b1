//! [`Markdown`]: an answer as it comes, into lines of a terminal.
//!
//! What is written is never taken back: a word is held back until it ends, a mark until it is known to be one, the beginning
//! of a line until it tells what the line is. So the output is the same however the text is cut into pieces. Parsers that
//! want the whole text cannot do this; tables stay text.

mod block;
mod inline;

use std::fmt::Write;

use anstyle::{AnsiColor, Effects, Style};

use self::{
    block::{Kind, Start},
    inline::{Mark, Part, Rest},
};
use super::{
    layout::{Layout, styled},
    text::harmless,
};

/// Columns of a line across, where there are so many.
const RULE: usize = 40;

/// Shows Markdown piece by piece.
#[derive(Debug)]
pub(crate) struct Markdown {
    /// Whether styles stand for marks; else the marks stay, and there are no escape codes.
    has_styles: bool,
    layout: Layout,
    width: usize,
    line: Line,
    /// The code that is open: what ends it.
    fence: Option<(char, usize)>,
    /// Whether an empty line is due before the next one; none is before the first and after the last.
    is_blank_due: bool,
    has_begun: bool,
}

/// The line that has not ended.
#[derive(Debug)]
enum Line {
    /// Its beginning, which does not tell yet what it is.
    Start(String),
    /// Text in a style: what is not decided of it, and what stood before.
    Text {
        style: Style,
        rest: String,
        before: Option<char>,
    },
    /// Code.
    Code,
}

impl Markdown {
    /// An answer; with styles, or with the marks as they are.
    pub(crate) fn new(has_styles: bool) -> Self {
        Self {
            has_styles,
            layout: Layout::new(usize::MAX / 2),
            width: usize::MAX / 2,
            line: Line::Start(String::new()),
            fence: None,
            is_blank_due: false,
            has_begun: false,
        }
    }

    /// How many columns the lines from here on have.
    pub(crate) fn set_width(&mut self, columns: usize) {
        self.width = columns;
        self.layout.set_width(columns);
    }

    /// Whether it is at the beginning of a line, with nothing held back.
    pub(crate) fn is_at_line(&self) -> bool {
        matches!(&self.line, Line::Start(held) if held.is_empty())
    }

    /// More of the answer.
    pub(crate) fn push(&mut self, text: &str, out: &mut String) {
        let text = text.replace('\r', "");
        let text = harmless(&text);
        for piece in text.split_inclusive('\n') {
            match piece.strip_suffix('\n') {
                None => self.more(piece, out),
                Some(end) => {
                    self.more(end, out);
                    self.end_line(out);
                }
            }
        }
    }

    /// The answer ends; another one may follow.
    pub(crate) fn finish(&mut self, out: &mut String) {
        if !self.is_at_line() {
            self.end_line(out);
        }
        self.fence = None;
        self.is_blank_due = false;
        self.has_begun = false;
    }

    /// More of the line.
    fn more(&mut self, text: &str, out: &mut String) {
        match &mut self.line {
            Line::Start(held) => {
                held.push_str(text);
                self.decide(false, out);
            }
            Line::Text { rest, .. } => {
                rest.push_str(text);
                self.decided_text(false, out);
            }
            Line::Code => self.layout.verbatim(text, out),
        }
    }

    fn end_line(&mut self, out: &mut String) {
        if let Line::Start(_) = self.line {
            self.decide(true, out);
        }
        match self.line {
            // Blank, or the edge of code: it was nothing to write.
            Line::Start(_) => {}
            Line::Text { .. } => {
                self.decided_text(true, out);
                self.layout.end(out);
            }
            Line::Code => {
                let _ = write!(out, "{:#}", self.code_style());
                self.layout.end(out);
            }
        }
        self.line = Line::Start(String::new());
    }

    /// Finds out what the line is, and writes what was held back.
    fn decide(&mut self, is_whole: bool, out: &mut String) {
        let Line::Start(held) = &mut self.line else {
            return;
        };
        let held = std::mem::take(held);
        let is_decided = match self.fence {
            Some((mark, count)) => self.decide_code(&held, mark, count, is_whole, out),
            None => match block::start(&held, is_whole) {
                Some(start) => {
                    self.begin(&start, &held, out);
                    true
                }
                None => false,
            },
        };
        if !is_decided {
            self.line = Line::Start(held);
        }
    }

    /// A line of code, or the one that ends it.
    fn decide_code(&mut self, held: &str, mark: char, count: usize, is_whole: bool, out: &mut String) -> bool {
        match block::ends_code(held, mark, count, is_whole) {
            None => return false,
            Some(false) => self.begin_code(held, out),
            Some(true) => {
                self.fence = None;
                if !self.has_styles {
                    self.begin_code(held, out);
                }
            }
        }
        true
    }

    fn begin(&mut self, start: &Start, line: &str, out: &mut String) {
        if start.kind == Kind::Blank && start.quotes == 0 {
            self.is_blank_due = self.has_begun;
            return;
        }
        self.due(out);
        if let Kind::Fence(mark, count) = start.kind {
            self.fence = Some((mark, count));
            if self.has_styles {
                return;
            }
        }
        let (head, hang, columns) = self.head(start);
        self.layout.begin(&head, hang, columns, out);
        let (style, rest) = self.content(start, line, columns);
        self.line = Line::Text {
            style,
            rest,
            before: None,
        };
        self.decided_text(false, out);
    }

    /// The empty line that is due.
    fn due(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_blank_due) {
            out.push('\n');
        }
        self.has_begun = true;
    }

    /// What stands before a line, before its continuations, and how many columns that takes.
    fn head(&self, start: &Start) -> (String, String, usize) {
        let dim = self.style(Style::new().dimmed());
        let mut bars = String::new();
        let bar = if self.has_styles { "│ " } else { "> " };
        styled(dim, &bar.repeat(start.quotes), &mut bars);
        bars.push_str(&" ".repeat(start.indent));
        let mark = match &start.kind {
            Kind::Item(Some(number)) => format!("{number} "),
            Kind::Item(None) if self.has_styles => "• ".to_owned(),
            Kind::Item(None) => "- ".to_owned(),
            _ => String::new(),
        };
        let columns = mark.chars().count();
        let hang = bars.clone() + &" ".repeat(columns);
        (bars + &mark, hang, start.quotes * 2 + start.indent + columns)
    }

    /// The text of a line, and its style.
    fn content(&self, start: &Start, line: &str, columns: usize) -> (Style, String) {
        let dim = Style::new().dimmed();
        let text = &line[start.bytes..];
        match start.kind {
            Kind::Rule if self.has_styles => (dim, "─".repeat(RULE.min(self.width.saturating_sub(columns)))),
            Kind::TableRule => (dim, text.to_owned()),
            Kind::Heading if self.has_styles => (AnsiColor::Cyan.on_default().bold(), text.to_owned()),
            Kind::Heading => (Style::new(), line[..start.bytes].trim_start().to_owned() + text),
            _ => (Style::new(), text.to_owned()),
        }
    }

    /// Writes what is decided of the line's text.
    fn decided_text(&mut self, is_whole: bool, out: &mut String) {
        let Line::Text { style, rest, before } = &mut self.line else {
            return;
        };
        if !self.has_styles {
            self.layout.text(Style::new(), &std::mem::take(rest), out);
            return;
        }
        let done = parts(&mut self.layout, *style, rest, before, is_whole, out);
        rest.drain(..done);
    }

    /// A line of code; its style holds until it ends.
    fn begin_code(&mut self, text: &str, out: &mut String) {
        self.due(out);
        self.line = Line::Code;
        let _ = write!(out, "{}", self.code_style());
        self.layout.verbatim(text, out);
    }

    fn code_style(&self) -> Style {
        self.style(AnsiColor::Green.on_default())
    }

    fn style(&self, style: Style) -> Style {
        if self.has_styles { style } else { Style::new() }
    }
}

/// Writes the parts of a text that are decided, and tells how many bytes they take.
fn parts(
    layout: &mut Layout,
    style: Style,
    text: &str,
    before: &mut Option<char>,
    is_whole: bool,
    out: &mut String,
) -> usize {
    let mut done = 0;
    loop {
        let rest = Rest {
            text: &text[done..],
            before: *before,
            is_whole,
        };
        let Some((part, bytes)) = inline::next(rest) else {
            return done;
        };
        show(layout, style, part, out);
        *before = rest.text[..bytes].chars().next_back();
        done += bytes;
    }
}

fn show(layout: &mut Layout, style: Style, part: Part<'_>, out: &mut String) {
    match part {
        Part::Text(text) => layout.text(style, text, out),
        Part::Code(code) => layout.text(style.fg_color(Some(AnsiColor::Green.into())), code, out),
        Part::Marked(mark, inside) => {
            let effects = match mark {
                Mark::Emphasis => Effects::ITALIC,
                Mark::Strong => Effects::BOLD,
                Mark::Both => Effects::BOLD | Effects::ITALIC,
                Mark::Struck => Effects::STRIKETHROUGH,
            };
            whole(layout, style.effects(style.get_effects() | effects), inside, out);
        }
        Part::Link(text, target) => {
            whole(layout, style.underline(), text, out);
            if target != text && !target.is_empty() {
                layout.text(style.dimmed(), &format!(" ({target})"), out);
            }
        }
    }
}

/// Text of which nothing is missing.
fn whole(layout: &mut Layout, style: Style, text: &str, out: &mut String) {
    parts(layout, style, text, &mut None, true, out);
}

#[cfg(test)]
mod tests;
