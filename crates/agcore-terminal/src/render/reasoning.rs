//! [`Reasoning`]: the thoughts of a model before its answer, wrapped at words, and folded if they are long.

use anstyle::Style;

use super::{layout::Layout, text::sanitized};

/// The number of lines that are shown of thoughts that are folded.
const MAX_LINES: usize = 8;

/// The indent, which sets thoughts apart from the answer without colors, too.
const INDENT: &str = "  ";

/// Lays out the thoughts that arrive until other output is written.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    /// Whether only the first lines are shown.
    pub(super) is_folded: bool,
    /// Whether thoughts were written, and nothing else since.
    is_open: bool,
    /// Breaks lines, unless they stay as they are.
    layout: Option<Layout>,
    /// Whether a line has started.
    is_within_line: bool,
    /// The number of lines that have ended, shown or not.
    lines: usize,
}

impl Reasoning {
    /// Returns whether thoughts were written, and nothing else since.
    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Returns whether what arrives is not shown any more.
    pub(super) fn is_hidden(&self) -> bool {
        self.layout.is_some() && self.is_folded && self.lines >= MAX_LINES
    }

    /// Returns whether the output ends with a complete line.
    pub(super) fn is_at_line(&self) -> bool {
        !self.is_within_line || self.is_hidden()
    }

    /// Returns the column after what was written.
    pub(super) fn column(&self) -> usize {
        self.layout.as_ref().map_or(0, Layout::column)
    }

    /// Adds a piece of a thought. Returns the output: lines of this width, or the piece itself if nothing is wrapped.
    pub(super) fn push(&mut self, text: &str, style: Style, width: Option<usize>) -> String {
        self.is_open = true;
        let text = sanitized(text);
        let Some(width) = width else {
            self.is_within_line = if text.is_empty() {
                self.is_within_line
            } else {
                !text.ends_with('\n')
            };
            return format!("{style}{text}{style:#}");
        };
        let layout = self.layout.get_or_insert_with(|| Layout::new(width));
        layout.set_width(width);
        let mut out = String::new();
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                layout.end(&mut out);
                self.is_within_line = false;
            }
            if !line.is_empty() && !self.is_within_line {
                layout.begin(INDENT, INDENT.to_owned(), INDENT.len(), &mut out);
                self.is_within_line = true;
            }
            layout.text(style, line, &mut out);
        }
        self.fold(out)
    }

    /// Ends the thoughts. Returns the output: the rest of the last line, and how many lines are folded.
    pub(super) fn finish(&mut self, style: Style) -> String {
        let is_within_line = std::mem::take(&mut self.is_within_line);
        let mut out = String::new();
        match &mut self.layout {
            Some(layout) if is_within_line => layout.end(&mut out),
            None if is_within_line => out.push('\n'),
            _ => {}
        }
        let mut out = self.fold(out);
        if self.is_hidden() && self.lines > MAX_LINES {
            let hidden = self.lines - MAX_LINES;
            let noun = if hidden == 1 { "line" } else { "lines" };
            out += &format!("{INDENT}{style}… {hidden} more {noun} of reasoning{style:#}\n");
        }
        *self = Self {
            is_folded: self.is_folded,
            ..Self::default()
        };
        out
    }

    /// Counts the lines, and removes those that are not shown.
    fn fold(&mut self, out: String) -> String {
        let before = self.lines;
        self.lines += out.matches('\n').count();
        match self.is_folded && self.layout.is_some() {
            true => out
                .split_inclusive('\n')
                .take(MAX_LINES.saturating_sub(before))
                .collect(),
            false => out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pieces: &[&str], is_folded: bool) -> String {
        let mut reasoning = Reasoning {
            is_folded,
            ..Reasoning::default()
        };
        let style = Style::new();
        let mut out: String = pieces
            .iter()
            .map(|piece| reasoning.push(piece, style, Some(20)))
            .collect();
        out += &reasoning.finish(style);
        assert_eq!(reasoning.finish(style), "");
        out
    }

    #[test]
    fn thoughts_are_wrapped_at_words_however_they_arrive() {
        let expected = "  The user wants a\n  short answer.\n\n  Fine.\n";
        let text = "The user wants a short answer.\n\nFine.";
        assert_eq!(written(&[text], false), expected);
        let pieces: Vec<String> = text.chars().map(String::from).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        assert_eq!(written(&pieces, false), expected);
        assert_eq!(written(&["a\u{1b}[2J\n"], false), "  a\u{fffd}[2J\n");
        assert_eq!(written(&[], true), "");
    }

    #[test]
    fn long_thoughts_are_folded() {
        let lines = |count: usize| "x\n".repeat(count);
        let shown = |count: usize| "  x\n".repeat(count);
        assert_eq!(written(&[&lines(MAX_LINES)], true), shown(MAX_LINES));
        let one_more = shown(MAX_LINES) + "  … 1 more line of reasoning\n";
        assert_eq!(written(&[&lines(MAX_LINES), "x"], true), one_more);
        let words = "word ".repeat(100);
        let folded = written(&[&words], true);
        assert_eq!(folded.lines().count(), MAX_LINES + 1);
        assert!(folded.ends_with("more lines of reasoning\n"), "{folded}");
        assert_eq!(written(&[&lines(50)], false), shown(50));
    }

    #[test]
    fn what_is_folded_leaves_a_complete_line() {
        let style = Style::new();
        let mut reasoning = Reasoning {
            is_folded: true,
            ..Reasoning::default()
        };
        reasoning.push(&"x\n".repeat(MAX_LINES), style, Some(20));
        assert!(reasoning.is_hidden() && reasoning.is_at_line() && reasoning.is_open());
        let more = reasoning.push("more and more words that need lines", style, Some(20));
        assert_eq!(more, "");
        assert!(reasoning.is_at_line());
        reasoning.finish(style);
        assert!(!reasoning.is_open() && !reasoning.is_hidden());
    }
}
