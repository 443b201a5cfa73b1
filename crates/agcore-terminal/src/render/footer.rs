//! [`Footer`]: lines below the output, such as the text that is typed while an answer arrives.
//!
//! The cursor stays where the output continues, and the lines are erased before anything else is written, so that they never become
//! a part of the output.

use std::fmt::Write;

use super::style::Palette;

/// The rows of the window that are left for the output, however many lines there are.
const OUTPUT_ROWS: usize = 3;

/// Lines below the output.
#[derive(Debug, Default)]
pub(super) struct Footer {
    lines: Vec<String>,
    is_drawn: bool,
}

impl Footer {
    /// Replaces the lines. They must be shorter than the window is wide.
    pub(super) fn set(&mut self, lines: Vec<String>) {
        self.lines = lines;
    }

    /// Returns the number of lines.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// Erases the lines.
    pub(super) fn erase(&mut self, out: &mut String) {
        if std::mem::take(&mut self.is_drawn) {
            out.push_str("\u{1b}[J");
        }
    }

    /// Draws the lines in a window of this height. The cursor must not be behind the last column: the terminal would forget that
    /// the next character belongs on a new row.
    pub(super) fn draw(&mut self, palette: Palette, height: usize, out: &mut String) {
        let more = self.lines.len().saturating_sub(height.saturating_sub(OUTPUT_ROWS));
        let lines = &self.lines[more..];
        if lines.is_empty() {
            return;
        }
        // At the bottom of the window, this scrolls. A saved position would not.
        lines.iter().for_each(|_| out.push_str("\u{1b}D"));
        let _ = write!(out, "\u{1b}[{}A\u{1b}7", lines.len());
        let (plain, dim) = (if palette.is_colored { "\u{1b}[0m" } else { "" }, palette.dim);
        for line in lines {
            let _ = write!(out, "{plain}\r\n{dim}{line}{dim:#}\u{1b}[K");
        }
        out.push_str("\u{1b}8");
        self.is_drawn = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(footer: &mut Footer, height: usize) -> String {
        let mut out = String::new();
        footer.draw(Palette::default(), height, &mut out);
        out
    }

    #[test]
    fn the_cursor_returns_to_the_output() {
        let mut footer = Footer::default();
        footer.set(vec!["queued: 早".to_owned(), "> half".to_owned()]);
        assert_eq!(
            drawn(&mut footer, 24),
            "\u{1b}D\u{1b}D\u{1b}[2A\u{1b}7\r\nqueued: 早\u{1b}[K\r\n> half\u{1b}[K\u{1b}8"
        );
        let mut out = String::new();
        footer.erase(&mut out);
        footer.erase(&mut out);
        assert_eq!(out, "\u{1b}[J");
    }

    #[test]
    fn nothing_is_drawn_without_lines_or_space() {
        let mut footer = Footer::default();
        assert_eq!(drawn(&mut footer, 24), "");
        footer.set(vec!["queued: one".to_owned(), "> two".to_owned()]);
        assert_eq!(drawn(&mut footer, 3), "");
        let low = drawn(&mut footer, 4);
        assert!(low.contains("> two") && !low.contains("queued"), "{low:?}");
    }
}
