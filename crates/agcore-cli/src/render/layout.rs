//! [`Layout`]: words into lines of a width. What is written is never taken back.

use std::fmt::Write;

use anstyle::Style;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::window;

/// The least that a line holds beside its indent, however narrow the window.
const LEAST: usize = 8;

/// Joins what stands before and after it into one sign.
const JOINER: char = '\u{200d}';

/// Puts words into lines. A word is held back until it ends.
#[derive(Debug)]
pub(super) struct Layout {
    /// Columns of a line.
    width: usize,
    /// What stands before each further line, and its columns.
    hang: (String, usize),
    /// Columns of this line that are taken.
    column: usize,
    /// Spaces that are due when a word follows on the same line.
    spaces: usize,
    /// The word that has not ended, by style.
    word: Vec<(Style, String)>,
    /// Its last character.
    last: Option<char>,
    /// Whether the word is longer than a line and goes out as it comes; the terminal breaks it.
    is_long: bool,
}

impl Layout {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            hang: (String::new(), 0),
            column: 0,
            spaces: 0,
            word: Vec::new(),
            last: None,
            is_long: false,
        }
    }

    /// Columns from the next line break on.
    pub(super) fn set_width(&mut self, width: usize) {
        self.width = width;
    }

    /// Begins a line with this, and says what stands before its continuations.
    pub(super) fn begin(&mut self, head: &str, hang: String, columns: usize, out: &mut String) {
        out.push_str(head);
        self.hang = (hang, columns);
        self.column = columns;
        self.spaces = 0;
        self.last = None;
    }

    /// More text of the line.
    pub(super) fn text(&mut self, style: Style, text: &str, out: &mut String) {
        for c in text.chars() {
            self.character(style, c, out);
        }
    }

    /// Text that is written as it is: code, whose lines are its own.
    pub(super) fn verbatim(&mut self, text: &str, out: &mut String) {
        self.end_word(out);
        out.push_str(text);
    }

    /// Ends the line.
    pub(super) fn end(&mut self, out: &mut String) {
        self.end_word(out);
        out.push('\n');
        self.hang = (String::new(), 0);
        self.column = 0;
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
            Some((same, text)) if *same == style => text.push(c),
            _ => self.word.push((style, c.into())),
        }
        if self.is_long || columns(&self.word) > self.room() {
            self.put_long(out);
        }
    }

    /// The columns of a whole line.
    fn room(&self) -> usize {
        self.width.saturating_sub(self.hang.1).max(LEAST)
    }

    fn end_word(&mut self, out: &mut String) {
        let width = columns(&self.word);
        if width > 0 {
            self.make_place(width, out);
            self.put(width, out);
        }
        self.last = None;
        self.is_long = false;
    }

    /// Writes what there is of a word that is longer than a line. Broken by the terminal alone, an address stays one for
    /// whoever copies it.
    fn put_long(&mut self, out: &mut String) {
        let width = columns(&self.word);
        if !self.is_long {
            self.is_long = true;
            self.make_place(width, out);
        }
        self.put(width, out);
        if self.column > self.width {
            self.column = (self.column - 1) % self.width.max(1) + 1;
        }
    }

    /// Breaks the line where the word does not fit.
    fn make_place(&mut self, width: usize, out: &mut String) {
        let is_first = self.column <= self.hang.1;
        if !is_first && self.column + self.spaces + width > self.width.max(self.hang.1 + LEAST) {
            out.push('\n');
            out.push_str(&self.hang.0);
            self.column = self.hang.1;
        } else {
            out.extend(std::iter::repeat_n(' ', self.spaces));
            self.column += self.spaces;
        }
        self.spaces = 0;
    }

    fn put(&mut self, width: usize, out: &mut String) {
        for (style, text) in self.word.drain(..) {
            styled(style, &text, out);
        }
        self.column += width;
    }
}

/// Lines of a text, broken at words to fit the window; what a line goes on with is indented by so many columns.
pub(crate) fn wrapped(text: &str, indent: usize) -> String {
    broken(text, indent, window::columns())
}

fn broken(text: &str, indent: usize, width: usize) -> String {
    let mut layout = Layout::new(width);
    let mut out = String::new();
    for line in text.split('\n') {
        layout.hang = (" ".repeat(indent), indent);
        layout.text(Style::new(), line, &mut out);
        layout.end(&mut out);
    }
    out.pop();
    out
}

/// Text in a style.
pub(super) fn styled(style: Style, text: &str, out: &mut String) {
    if !text.is_empty() {
        // A text can always be written to.
        let _ = write!(out, "{style}{text}{style:#}");
    }
}

fn columns(word: &[(Style, String)]) -> usize {
    word.iter().map(|(_, text)| text.width()).sum()
}

/// Whether a line may end between these two although no space is there: beside wide characters, as in Chinese, but not
/// before what closes, after what opens, or within a sign of several characters.
fn may_break(last: char, next: char) -> bool {
    let width = |c: char| c.width().unwrap_or(0);
    let is_wide = width(last) == 2 || width(next) == 2;
    is_wide && width(next) > 0 && last != JOINER && !closes(next) && !opens(last) && !changes(last, next)
}

fn closes(c: char) -> bool {
    ",.;:!?)]}%，。、；：！？）」』】》〉〕”’…·ー".contains(c)
}

fn opens(c: char) -> bool {
    "([{（「『【《〈〔“‘".contains(c)
}

/// A skin tone after a sign; two halves of a flag.
fn changes(last: char, next: char) -> bool {
    let is_flag = |c: char| ('\u{1f1e6}'..='\u{1f1ff}').contains(&c);
    ('\u{1f3fb}'..='\u{1f3ff}').contains(&next) || is_flag(last) && is_flag(next)
}

#[cfg(test)]
mod tests {
    use super::broken;

    #[test]
    fn what_a_line_goes_on_with_is_indented_and_fits() {
        let check = |text: &str, expected: &str| assert_eq!(broken(text, 4, 16), expected, "{text}");
        check("one two three four five six", "one two three\n    four five\n    six");
        check("one\n  two", "one\n  two");
        check("", "");
    }
}
