//! [`Layout`]: breaks text into lines, incrementally. Text that was written is never changed.

use std::{fmt::Write, sync::Arc};

use anstyle::Style;
use terminal_size::{Height, Width, terminal_size};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::text::column_after;

/// The minimum width of a line without its indent, however narrow the window is.
const MIN_WIDTH: usize = 8;

/// The indent from which a line of a list belongs to its second column.
const COLUMN: usize = 8;

/// Joins the characters on both sides into one symbol.
const JOINER: char = '\u{200d}';

/// The width that is assumed if standard output is not a terminal.
const DEFAULT_WIDTH: usize = 120;

/// The height that is assumed if standard output is not a terminal.
const DEFAULT_HEIGHT: usize = 24;

/// Breaks text into lines. A word is held back until it is complete.
#[derive(Debug)]
pub(super) struct Layout {
    /// The width of a line, in columns.
    width: usize,
    /// The indent of continuation lines, and its width.
    indent: (String, usize),
    /// The columns used on the current line.
    column: usize,
    /// Whether the current line has a word.
    has_word: bool,
    /// Spaces to write if another word follows on the same line.
    spaces: usize,
    /// Whether spaces at a line break are kept if there are several.
    keeps_spaces: bool,
    /// The incomplete word, by style and link.
    word: Vec<Piece>,
    /// Whether the terminal has links.
    pub(super) has_links: bool,
    /// The target of the link to which the text belongs that is added.
    link: Option<Arc<str>>,
    /// The last character of the word.
    last: Option<char>,
    /// Whether the word is longer than a line and is written as it arrives; the terminal then breaks it.
    is_long: bool,
}

/// A part of a word.
#[derive(Debug)]
struct Piece {
    style: Style,
    text: String,
    link: Option<Arc<str>>,
}

impl Layout {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            indent: (String::new(), 0),
            column: 0,
            has_word: false,
            spaces: 0,
            keeps_spaces: false,
            word: Vec::new(),
            has_links: false,
            link: None,
            last: None,
            is_long: false,
        }
    }

    /// Sets the width, from the next line break on.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// Starts a line with a head and sets the indent of its continuation lines, whose width is `columns`.
    pub(super) fn begin(&mut self, head: &str, indent: String, columns: usize, out: &mut String) {
        out.push_str(head);
        self.indent = (indent, columns);
        self.column = columns;
        self.has_word = false;
        self.spaces = 0;
        self.last = None;
    }

    /// Adds text to the line.
    pub(super) fn text(&mut self, style: Style, text: &str, out: &mut String) {
        for c in text.chars() {
            self.character(style, c, out);
        }
    }

    /// Makes the text that is added from now on a link to this target, or none, if the terminal has links. The target must not
    /// contain control characters.
    pub(super) fn set_link(&mut self, target: Option<&str>) {
        self.link = target.filter(|_| self.has_links).map(Arc::from);
    }

    /// Adds text without breaking it, for code.
    pub(super) fn verbatim(&mut self, text: &str, out: &mut String) {
        self.end_word(out);
        self.column = column_after(self.column, text, self.width);
        out.push_str(text);
    }

    /// Returns the columns used on the current line, without the text that is held back.
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// Ends the line.
    pub(super) fn end(&mut self, out: &mut String) {
        self.end_word(out);
        out.push('\n');
        self.indent = (String::new(), 0);
        self.column = 0;
        self.has_word = false;
        self.spaces = 0;
    }

    fn character(&mut self, style: Style, c: char, out: &mut String) {
        if c == ' ' || c == '\t' {
            self.end_word(out);
            self.spaces += 1;
            return;
        }
        if self.last.is_some_and(|last| may_break(last, c)) {
            self.end_word(out);
        }
        self.last = Some(c);
        match self.word.last_mut() {
            Some(piece) if piece.style == style && piece.link == self.link => piece.text.push(c),
            _ => self.word.push(Piece {
                style,
                text: c.into(),
                link: self.link.clone(),
            }),
        }
        if self.is_long || columns(&self.word) > self.line_width() {
            self.write_long(out);
        }
    }

    /// Returns the columns available to text on a continuation line.
    fn line_width(&self) -> usize {
        self.width.saturating_sub(self.indent.1).max(MIN_WIDTH)
    }

    fn end_word(&mut self, out: &mut String) {
        let width = columns(&self.word);
        if width > 0 {
            self.break_line_for(width, out);
            self.write_word(width, out);
        }
        self.last = None;
        self.is_long = false;
    }

    /// Writes the part of an overlong word that has arrived. Only the terminal breaks it, so that a long URL can be
    /// copied in one piece.
    fn write_long(&mut self, out: &mut String) {
        let width = columns(&self.word);
        if !self.is_long {
            self.is_long = true;
            self.break_line_for(width, out);
        }
        self.write_word(width, out);
        if self.column > self.width {
            self.column = (self.column - 1) % self.width.max(1) + 1;
        }
    }

    /// Starts a new line if a word of this width does not fit on the current one; else writes the pending spaces.
    fn break_line_for(&mut self, width: usize, out: &mut String) {
        if self.has_word && self.column + self.spaces + width > self.width.max(self.indent.1 + MIN_WIDTH) {
            out.push('\n');
            out.push_str(&self.indent.0);
            let kept = if self.keeps_spaces {
                self.spaces.saturating_sub(1)
            } else {
                0
            };
            out.extend(std::iter::repeat_n(' ', kept));
            self.column = self.indent.1 + kept;
        } else {
            out.extend(std::iter::repeat_n(' ', self.spaces));
            self.column += self.spaces;
        }
        self.spaces = 0;
    }

    fn write_word(&mut self, width: usize, out: &mut String) {
        for Piece { style, text, link } in self.word.drain(..) {
            match link {
                // Each word is a link of its own, so that neither spaces nor indents are.
                Some(target) => {
                    let _ = write!(out, "\u{1b}]8;;{target}\u{1b}\\");
                    styled(style, &text, out);
                    out.push_str("\u{1b}]8;;\u{1b}\\");
                }
                None => styled(style, &text, out),
            }
        }
        self.column += width;
        self.has_word = true;
    }
}

/// Returns the width of the window. It is queried each time because the window may be resized.
pub fn window_width() -> usize {
    known_window_width().unwrap_or(DEFAULT_WIDTH)
}

/// Returns the height of the window.
pub fn window_height() -> usize {
    terminal_size().map_or(DEFAULT_HEIGHT, |(_, Height(height))| usize::from(height))
}

/// Returns the width of the window, or `None` without a window.
pub fn known_window_width() -> Option<usize> {
    terminal_size().map(|(Width(width), _)| usize::from(width).max(1))
}

/// Wraps text to the width of the window. Continuation lines are indented by this many columns. Of several spaces at a line break,
/// one becomes the break, and the others stay, so that different texts look different.
pub fn wrapped(text: &str, indent: usize) -> String {
    let mut layout = Layout::new(window_width());
    layout.keeps_spaces = true;
    let mut wrapped = String::new();
    for line in text.split('\n') {
        layout.begin("", " ".repeat(indent), 0, &mut wrapped);
        layout.indent.1 = indent;
        layout.text(Style::new(), line, &mut wrapped);
        layout.end(&mut wrapped);
    }
    wrapped.pop();
    wrapped
}

/// Like [`wrapped`], for text with paths: those that are longer than a line are broken after separators. In a URL, that would
/// make it impossible to copy, so URLs are left to the terminal.
pub fn wrapped_with_paths(text: &str, indent: usize) -> String {
    let lines = text.split('\n');
    let lines = lines.map(|line| wrapped_line_with_paths(line, indent, window_width()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps text after a prefix such as `✗ `. All further lines are indented by its width.
pub fn hanging(prefix: &str, text: &str) -> String {
    hanging_to(prefix, text, window_width())
}

/// Like [`hanging`], for lines of this width.
pub fn hanging_to(prefix: &str, text: &str, width: usize) -> String {
    let indent = prefix.width();
    let space = " ".repeat(indent);
    let lines = text.split('\n').enumerate().map(|(index, line)| {
        let prefix = if index == 0 { prefix } else { &space };
        wrapped_line(prefix, line, indent, width)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps each line of a list. The continuation of a line is indented to its second column, which two spaces precede, or
/// else two columns deeper than the line.
pub fn wrapped_list(text: &str) -> String {
    let width = window_width();
    let lines = text.split('\n');
    let lines = lines.map(|line| wrapped_line("", line, list_indent(line, width), width));
    lines.collect::<Vec<_>>().join("\n")
}

/// Wraps text with paragraphs and indented lists for lines of this width: paragraphs are not indented, and lists as by
/// [`wrapped_list`].
pub fn wrapped_paragraphs(text: &str, width: usize) -> String {
    let indent = |line: &str| match line.starts_with(' ') {
        true => list_indent(line, width),
        false => 0,
    };
    let lines = text.split('\n');
    let lines = lines.map(|line| wrapped_line("", line, indent(line), width));
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the indent of the continuation of a line in a list.
fn list_indent(line: &str, width: usize) -> usize {
    let content = line.trim_start_matches(' ');
    let start = line.len() - content.len();
    let second = content.find("  ").map(|gap| {
        let first = content[..gap].width();
        let spaces = content[gap..].len() - content[gap..].trim_start_matches(' ').len();
        start + first + spaces
    });
    // A line that is indented this far is a second column itself.
    let own = if start < COLUMN { start + 2 } else { start };
    // A second column that leaves less than half of the window is not worth its indent.
    second.filter(|column| *column <= width / 2).unwrap_or(own)
}

fn wrapped_line(prefix: &str, line: &str, indent: usize, width: usize) -> String {
    let mut layout = Layout::new(width);
    let mut out = String::new();
    layout.begin(prefix, " ".repeat(indent), prefix.width(), &mut out);
    layout.indent.1 = indent;
    layout.text(Style::new(), line, &mut out);
    layout.end(&mut out);
    out.pop();
    out
}

fn wrapped_line_with_paths(line: &str, indent: usize, width: usize) -> String {
    let (mut layout, mut out) = (Layout::new(width), String::new());
    layout.begin("", " ".repeat(indent), 0, &mut out);
    layout.indent.1 = indent;
    for word in line.split_inclusive(' ') {
        let is_long = word.trim_end().width() > layout.line_width();
        if !is_long || word.contains("://") {
            layout.text(Style::new(), word, &mut out);
            continue;
        }
        for part in word.split_inclusive(['/', '\\']) {
            layout.text(Style::new(), part, &mut out);
            layout.end_word(&mut out);
        }
    }
    layout.end(&mut out);
    out.pop();
    out
}

/// Writes text in a style.
pub(super) fn styled(style: Style, text: &str, out: &mut String) {
    if !text.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(out, "{style}{text}{style:#}");
    }
}

fn columns(word: &[Piece]) -> usize {
    word.iter().map(|piece| piece.text.width()).sum()
}

/// Returns whether a line may break between two characters without a space, as in Chinese text: only next to a wide
/// character, but not before closing or after opening punctuation, and not within a symbol of several characters.
fn may_break(last: char, next: char) -> bool {
    let width = |c: char| c.width().unwrap_or(0);
    let is_wide = width(last) == 2 || width(next) == 2;
    is_wide
        && width(next) > 0
        && last != JOINER
        && !is_closing(next)
        && !is_opening(last)
        && !continues_symbol(last, next)
}

fn is_closing(c: char) -> bool {
    ",.;:!?)]}%，。、；：！？）」』】》〉〕”’…·ー".contains(c)
}

fn is_opening(c: char) -> bool {
    "([{（「『【《〈〔“‘".contains(c)
}

/// Returns whether the second character modifies the first: a skin tone, or the second half of a flag.
fn continues_symbol(last: char, next: char) -> bool {
    let is_flag = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&next) || is_flag(last) && is_flag(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn continuation_lines_are_indented_and_fit() {
        let check = |text: &str, expected: &str| assert_eq!(wrapped_line("", text, 4, 16), expected, "{text}");
        check("one two three four five six", "one two three\n    four five\n    six");
        check("  two", "  two");
        check("", "");
        check("four twelve-chars", "four\n    twelve-chars");
    }

    #[test]
    fn paragraphs_are_not_indented_and_lists_are() {
        let text = "One two three four five.\n\nModes:\n  plan    deny what may change files\n  [permissions]";
        assert_eq!(
            wrapped_paragraphs(text, 20),
            "One two three four\nfive.\n\nModes:\n  plan    deny what\n          may change\n          files\n  [permissions]"
        );
    }

    #[test]
    fn long_paths_are_broken_after_separators_and_urls_are_not() {
        let check = |text: &str, expected: &str| assert_eq!(wrapped_line_with_paths(text, 2, 16), expected, "{text}");
        check("in ~/some/folder/a.json now", "in ~/some/\n  folder/a.json\n  now");
        check("is in some/a.json", "is in\n  some/a.json");
        check(r"D:\Files\Some\other.toml", "D:\\Files\\Some\\\n  other.toml");
        check("at http://localhost/some/path", "at\n  http://localhost/some/path");
        check("", "");
    }

    #[test]
    fn the_prefix_counts() {
        let check = |text: &str, expected: &str| assert_eq!(hanging_to("✗ ", text, 10), expected, "{text}");
        check("one two x", "✗ one two\n  x");
        check("一二三四五", "✗ 一二三四\n  五");
        check("one two three\nfour", "✗ one two\n  three\n  four");
    }

    #[test]
    fn lists_continue_in_their_second_column() {
        for (line, indent) in [
            ("/help  show this", 7),
            ("  allowed: by a rule", 4),
            ("name: what it does", 2),
            ("", 2),
            ("               list them", 15),
            ("/much-too-long-for-this-window  show", 2),
        ] {
            assert_eq!(list_indent(line, 40), indent, "{line}");
        }
    }
}
