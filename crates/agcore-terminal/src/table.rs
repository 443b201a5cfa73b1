//! Text tables.

use std::io::{self, IsTerminal};

use crate::render::{columns, window_width};

/// Returns the widest table that standard output shows: that of the window, if it is one.
pub fn table_width() -> usize {
    match io::stdout().is_terminal() {
        true => window_width(),
        false => usize::MAX,
    }
}

/// Formats rows as lines with aligned columns. The last cell of a row is not padded.
pub fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns(cell).max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| {
            let missing = width.saturating_sub(columns(cell));
            cell.clone() + &" ".repeat(missing)
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

/// Formats rows as a table if it fits into this width. Otherwise, the cells of rows that are too long are below one another, broken
/// between words and after the separators of paths, never within a name.
pub fn table_within<const N: usize>(rows: &[[String; N]], width: usize) -> String {
    let whole = table(rows);
    match whole.lines().all(|line| columns(line) <= width) {
        true => whole,
        false => rows
            .iter()
            .map(|row| short(row, width).unwrap_or_else(|| stacked(row, width)))
            .collect(),
    }
}

/// Formats a row as a line, if that fits.
fn short<const N: usize>(row: &[String; N], width: usize) -> Option<String> {
    let line = row.join("  ");
    (columns(line.trim_end()) <= width).then(|| format!("{}\n", line.trim_end()))
}

/// Formats a row as its first cell, with the others indented below it.
fn stacked<const N: usize>(row: &[String; N], width: usize) -> String {
    let mut text = String::new();
    for (index, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
        let indent = if index == 0 { "" } else { "  " };
        for line in broken(cell, width.saturating_sub(indent.len())) {
            text += &format!("{indent}{}\n", line.trim_end());
        }
    }
    text
}

/// Breaks a text after spaces and the separators of paths into lines of this width. A longer part is a line of its own.
fn broken(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for part in text.split_inclusive([' ', '/', '\\']) {
        let line = lines.last_mut().filter(|line| {
            let used = columns(line) + columns(part.trim_end());
            line.is_empty() || used <= width
        });
        match line {
            Some(line) => line.push_str(part),
            None => lines.push(part.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows<const N: usize>(rows: [[&str; 3]; N]) -> [[String; 3]; N] {
        rows.map(|row| row.map(str::to_owned))
    }

    #[test]
    fn a_table_that_does_not_fit_is_stacked_and_breaks_no_names() {
        let rows = rows([
            ["model", "gpt-5-mini", "/etc/somewhere/settings/agcore/agcore.toml"],
            ["api_key", "not set", ""],
            ["a-name-that-is-longer", "x", "default"],
        ]);
        assert_eq!(table_within(&rows, 80), table(&rows));
        assert_eq!(
            table_within(&rows, 20),
            "model\n  gpt-5-mini\n  /etc/somewhere/\n  settings/agcore/\n  agcore.toml\n\
             api_key  not set\na-name-that-is-longer\n  x\n  default\n"
        );
        assert_eq!(broken(r"D:\Files\Some Body\x", 12), [r"D:\Files\", r"Some Body\x"]);
        assert_eq!(broken("", 12), [""]);
        assert_eq!(broken("abc", 0), ["abc"]);
    }

    #[test]
    fn aligns_wide_characters() {
        let rows = rows([["a", "b", "c"], ["日本", "", "d"], ["x", "long", ""]]);
        assert_eq!(table(&rows), "a     b     c\n日本        d\nx     long\n");
    }
}
