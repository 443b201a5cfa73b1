//! Shows a unified difference in its colors: whole, or its first lines.

use std::collections::HashMap;

use anstyle::Style;

use super::{
    layout::window_width,
    shown::{indented, shown_line},
    style::Palette,
    text::truncated,
};

/// The number of lines that are shown of a difference that was not asked about.
const MAX_LINES: usize = 24;

/// The indent of a difference.
const INDENT: usize = 2;

/// Shows a whole difference. What does not fit into a line continues indented. Blanks at the end of an added line are visible, a
/// space as `·` and a tab as `→`, and so are those of a removed line that is added again with other ones.
pub fn difference(text: &str, palette: Palette) -> String {
    let line = |(line, shown): (&str, String)| indented(&shown, INDENT, style(line, palette), window_width());
    shown_lines(text).map(line).collect()
}

/// Shows the first lines of a difference, each up to this width, and the number of the others.
pub(super) fn difference_start(text: &str, palette: Palette, width: usize) -> String {
    let mut lines = shown_lines(text);
    let line = |(line, shown_line): (&str, String)| {
        let text = shown_line.replace('\t', "    ");
        shown(style(line, palette), &truncated(&text, width.saturating_sub(2)))
    };
    let mut out: String = lines.by_ref().take(MAX_LINES).map(line).collect();
    match lines.count() {
        0 => {}
        1 => out += &shown(palette.dim, "… 1 more line"),
        more => out += &shown(palette.dim, &format!("… {more} more lines")),
    }
    out
}

/// Returns the lines of a text. A carriage return before a line break belongs to its line.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n')
}

/// Returns each line of a difference, and how it is shown.
fn shown_lines(text: &str) -> impl Iterator<Item = (&str, String)> {
    let lines: Vec<&str> = lines(text).collect();
    // Names are before the first hunk.
    let start = lines
        .iter()
        .position(|line| line.starts_with("@@"))
        .unwrap_or(lines.len());
    let mut marked = vec![false; lines.len()];
    let mut index = start;
    while index < lines.len() {
        let removed = index..end_of(&lines, index, '-');
        // The last line of a file may have no line break, which a line of its own states.
        let start = end_of(&lines, removed.end, '\\');
        let added = start..end_of(&lines, start, '+');
        index = added.end.max(index + 1);
        let again: HashMap<&str, &str> = lines[added.clone()].iter().map(|line| parts(line)).collect();
        for line in removed {
            let (body, blanks) = parts(lines[line]);
            marked[line] = again.get(body).is_some_and(|others| *others != blanks);
        }
        marked[added].fill(true);
    }
    lines.into_iter().zip(marked).map(|(line, is_marked)| {
        let shown = match is_marked {
            true => with_marks(line),
            false => shown_line(line),
        };
        (line, shown)
    })
}

/// Returns the end of the lines from `start` on that begin with a sign.
fn end_of(lines: &[&str], start: usize, sign: char) -> usize {
    let rest = lines[start..].iter();
    start + rest.take_while(|line| line.starts_with(sign)).count()
}

/// Splits a line of a hunk into its text without the sign, and the blanks at its end.
fn parts(line: &str) -> (&str, &str) {
    let text = line.get(1..).unwrap_or_default();
    text.split_at(text.trim_end().len())
}

/// Shows a line with marks for the blanks at its end.
fn with_marks(line: &str) -> String {
    let (text, blanks) = line.split_at(line.trim_end().len());
    let blanks = shown_line(blanks).replace(' ', "·").replace('\t', "→");
    shown_line(text) + &blanks
}

fn style(line: &str, palette: Palette) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => palette.success,
        Some(b'-') => palette.error,
        _ => palette.dim,
    }
}

fn shown(style: Style, line: &str) -> String {
    format!("  {style}{line}{style:#}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_difference_is_of_limited_size() {
        let shown = |count: usize| difference_start(&"+x\n".repeat(count), Palette::default(), 80);
        assert_eq!(shown(2), "  +x\n  +x\n");
        assert_eq!(shown(MAX_LINES), "  +x\n".repeat(MAX_LINES));
        let start = "  +x\n".repeat(MAX_LINES);
        assert_eq!(shown(MAX_LINES + 1), format!("{start}  … 1 more line\n"));
        assert_eq!(shown(MAX_LINES + 5), format!("{start}  … 5 more lines\n"));
        let long = format!("+\t{}\u{1b}[2J\n", "x".repeat(500));
        assert_eq!(difference_start(&long, Palette::default(), 12), "  +    xxxx…\n");
        let whole = difference(&long, Palette::default());
        assert!(
            whole.ends_with("x\\u{1b}[2J\n") && whole.matches('x').count() == 500,
            "{whole}"
        );
        let mut lines = whole.lines();
        assert!(
            lines.next().unwrap().starts_with("  +\t") && lines.all(|line| line.starts_with("    x")),
            "{whole}"
        );
    }

    #[test]
    fn blanks_at_the_end_of_a_changed_line_are_visible() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let header = "--- a/x \n+++ b/x \n@@ -1 +1 @@\n";
            let shown = difference(&format!("{header}{text}"), Palette::default());
            assert_eq!(shown, format!("  --- a/x \n  +++ b/x \n  @@ -1 +1 @@\n{expected}"));
            let start = difference_start(&format!("{header}{text}"), Palette::default(), 80);
            assert_eq!(start.replace("    x", "\tx"), shown);
        }
        check("+a  \n", "  +a··\n");
        check("+a\t\n", "  +a→\n");
        check("+a\u{a0} \n+a\r\n", "  +a\\u{a0}·\n  +a\\u{d}\n");
        check("+\tx y\n+  \n+\n", "  +\tx y\n  +··\n  +\n");
        check("+++ \n", "  +++·\n");
        check(" a \n+b\n", "   a \n  +b\n");
        // A removed line only if nothing but its blanks changes.
        check("-a \n+b\n", "  -a \n  +b\n");
        check("-a \n-b\t\n+a\n+b\n", "  -a·\n  -b→\n  +a\n  +b\n");
        check("-a \n+a \n", "  -a \n  +a·\n");
        check("-a \n b\n+a\n", "  -a \n   b\n  +a\n");
        check("-a\r\n+a\n", "  -a\\u{d}\n  +a\n");
        check("-a\n+a \n", "  -a\n  +a·\n");
        check(
            "-a \n\\ No newline at end of file\n+a\n",
            "  -a·\n  \\ No newline at end of file\n  +a\n",
        );
        check(
            "-\n+ \n\\ No newline at end of file\n",
            "  -\n  +·\n  \\ No newline at end of file\n",
        );
    }
}
