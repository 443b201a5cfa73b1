//! Text tables.

use std::io::{self, IsTerminal};

use crate::render::{columns, window_width};

/// Returns the widest table that standard output shows: that of the window, if it is one.
pub(crate) fn table_width() -> usize {
    match io::stdout().is_terminal() {
        true => window_width(),
        false => usize::MAX,
    }
}

/// Formats rows as lines with aligned columns. The last cell of a row is not padded.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
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

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn aligns_wide_characters() {
        let rows = [["a", "b", "c"], ["日本", "", "d"], ["x", "long", ""]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     b     c\n日本        d\nx     long\n");
    }
}
