//! Finds the rows above the header of a table, as banks and reports write them.

use serde_json::Value;

/// The number of rows that are inspected.
pub(super) const MAX_ROWS: usize = 64;

/// The number of bytes of a preamble: it is repeated with each part of a table.
const MAX_BYTES: usize = 4096;

/// A row at the beginning of a file.
#[derive(Debug)]
pub(super) struct Row {
    /// Whether there is a blank line before it.
    pub(super) is_after_blank: bool,
    pub(super) cells: Vec<Value>,
}

impl Row {
    /// Returns the number of cells without the empty ones at the end.
    fn width(&self) -> usize {
        self.cells
            .iter()
            .rposition(|cell| !cell.is_null())
            .map_or(0, |last| last + 1)
    }

    fn filled(&self) -> usize {
        self.cells.iter().filter(|cell| !cell.is_null()).count()
    }
}

/// Returns how many of the first rows are above the table: those before the first row that is as wide as most are, if they are much
/// narrower, or a blank line follows them.
pub(super) fn preamble(rows: &[Row]) -> usize {
    let Some(width) = usual_width(rows) else {
        return 0;
    };
    let is_table = |row: &Row| row.cells.len() >= width && (width < 3 || row.filled() > 1);
    let Some(start) = rows.iter().position(is_table) else {
        return 0;
    };
    let (above, below) = rows.split_at(start);
    let has_blank = |number: usize| rows[number + 1..=start].iter().any(|row| row.is_after_blank);
    let is_above = |(number, row): (usize, &Row)| row.width() * 2 <= width || has_blank(number);
    let bytes: usize = above
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(Value::as_str)
        .map(str::len)
        .sum();
    // A header without values is worth less than a row that is shown in a wrong place.
    let is_evident = below.len() >= 2 && above.iter().enumerate().all(is_above) && bytes <= MAX_BYTES;
    if is_evident { start } else { 0 }
}

/// Returns the width of most rows, if at least two have it and it is not one.
fn usual_width(rows: &[Row]) -> Option<usize> {
    let count = |width: usize| rows.iter().filter(|row| row.cells.len() == width).count();
    let widths = rows.iter().map(|row| row.cells.len());
    let best = widths.max_by_key(|width| (count(*width), *width))?;
    (best > 1 && count(best) >= 2 && count(best) * 4 > rows.len()).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is a row, with `|` between its cells.
    #[track_caller]
    fn check(text: &str, expected: usize) {
        let mut is_after_blank = false;
        let mut rows = Vec::new();
        for line in text.split('\n') {
            if line.is_empty() {
                is_after_blank = true;
                continue;
            }
            let cell = |cell: &str| {
                if cell.is_empty() {
                    Value::Null
                } else {
                    Value::from(cell)
                }
            };
            rows.push(Row {
                is_after_blank,
                cells: line.split('|').map(cell).collect(),
            });
            is_after_blank = false;
        }
        assert_eq!(preamble(&rows), expected, "{text}");
    }

    #[test]
    fn rows_above_a_table_are_found() {
        check("Sales\na|b\n1|2\n3|4", 1);
        check("Account|DE12\nFrom|2026\n\nday|text|sum\n1|2|3\n4|5|6", 2);
        check("Sales|||\n|||\nday|text|sum|x\n1|2|3|4\n4|5|6|7", 2);
        check("Sales|||\nday|text|sum|x\n1|2|3|4", 1);
    }

    #[test]
    fn a_header_is_not_above_the_table() {
        check("a|b\n1|2", 0);
        // The first column has no name.
        check("a|b\n1|2|3\n4|5|6", 0);
        check("a|\n1|2", 0);
        check("a\n1\n2|3", 0);
        check("a|a\n1\n1|2|3", 0);
        check("one\ntwo\nthree", 0);
        check("", 0);
        check(&format!("{}\na|b\n1|2\n3|4", "x".repeat(5000)), 0);
    }
}
