//! Shows a unified difference in its colors: whole, or its first lines.

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

/// Shows a whole difference. What does not fit into a line continues indented.
pub fn difference(text: &str, palette: Palette) -> String {
    let line = |line| indented(&shown_line(line), INDENT, style(line, palette), window_width());
    lines(text).map(line).collect()
}

/// Shows the first lines of a difference, each up to this width, and the number of the others.
pub(super) fn difference_start(text: &str, palette: Palette, width: usize) -> String {
    let mut lines = lines(text);
    let line = |line| {
        let text = shown_line(line).replace('\t', "    ");
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
}
