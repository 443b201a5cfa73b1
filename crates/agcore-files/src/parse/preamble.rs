//! Finds the rows above the header of a table, as banks and reports write them, in files of values and in sheets.

use std::{cmp::Reverse, collections::BTreeMap};

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

    /// Returns the text of a row that is above a table, or `None` if there is none.
    pub(super) fn into_heading(self) -> Option<String> {
        let text = |cell: &Value| match cell {
            Value::Null => None,
            Value::String(text) => Some(text.trim().to_owned()),
            other => Some(other.to_string()),
        };
        let texts = self.cells.iter().filter_map(text).filter(|text| !text.is_empty());
        let text = texts.collect::<Vec<_>>().join(" ");
        Some(text).filter(|text| !text.is_empty())
    }
}

/// Returns how many of the first rows are above the table.
///
/// The table is as wide as most rows are, or as wide as other rows whose first is evidently a header.
pub(super) fn preamble(rows: &[Row]) -> usize {
    let widths = widths(rows);
    let is_wide = |(width, count): &&(usize, usize)| *width > 1 && *count >= 2;
    let most = widths
        .first()
        .filter(is_wide)
        .filter(|(_, count)| count * 4 > rows.len());
    let found = most.and_then(|(width, _)| {
        let start = start(rows, *width)?;
        let is_evident = is_apart(rows, start, *width) || is_below_names(rows, start, *width);
        is_evident.then_some(start)
    });
    let other = || {
        let mut starts = widths
            .iter()
            .filter(is_wide)
            .filter_map(|(width, _)| Some((*width, start(rows, *width)?)));
        starts.find(|(width, start)| is_below_names(rows, *start, *width))
    };
    found.or_else(|| other().map(|(_, start)| start)).unwrap_or(0)
}

/// Returns the widths of the rows and the number of rows with each, the most frequent one first.
fn widths(rows: &[Row]) -> Vec<(usize, usize)> {
    let mut counts = BTreeMap::new();
    for row in rows {
        *counts.entry(row.cells.len()).or_insert(0) += 1;
    }
    let mut widths: Vec<_> = counts.into_iter().collect();
    widths.sort_by_key(|(width, count)| Reverse((*count, *width)));
    widths
}

/// Returns the first row of a table, if others are above it, and at least one below.
fn start(rows: &[Row], width: usize) -> Option<usize> {
    let is_table = |row: &Row| row.cells.len() >= width && (width < 3 || row.filled() > 1);
    let start = rows.iter().position(is_table)?;
    let bytes: usize = rows[..start]
        .iter()
        .flat_map(|row| &row.cells)
        .filter_map(Value::as_str)
        .map(str::len)
        .sum();
    // A header without values is worth less than a row that is shown in a wrong place.
    (start > 0 && start + 2 <= rows.len() && bytes <= MAX_BYTES).then_some(start)
}

/// Returns whether all rows above a table are much narrower, or a blank line follows them.
fn is_apart(rows: &[Row], start: usize, width: usize) -> bool {
    let has_blank = |number: usize| rows[number + 1..=start].iter().any(|row| row.is_after_blank);
    let is_above = |(number, row): (usize, &Row)| row.width() * 2 <= width || has_blank(number);
    rows[..start].iter().enumerate().all(is_above)
}

/// Returns whether the rows above a table have at most a name and a value, and its first row is wider and evidently a header:
/// texts, with numbers or dates below them.
fn is_below_names(rows: &[Row], start: usize, width: usize) -> bool {
    let header = &rows[start];
    let is_name = |row: &Row| row.filled() <= 2 && row.width() < header.width();
    let is_text = |cell: &Value| !is_number(cell);
    let below = rows[start + 1..].iter().filter(|row| row.cells.len() == width);
    let has_numbers = below
        .flat_map(|row| row.cells.iter().zip(&header.cells))
        .any(|(cell, name)| name.is_string() && is_number(cell));
    header.filled() > 2 && rows[..start].iter().all(is_name) && header.cells.iter().all(is_text) && has_numbers
}

/// Returns whether a cell is a number, or begins like one or a date.
fn is_number(cell: &Value) -> bool {
    let Some(text) = cell.as_str() else {
        return cell.is_number();
    };
    let text = text.trim_start_matches(|char: char| char.is_whitespace() || "+-(€$£¥".contains(char));
    text.starts_with(|char: char| char.is_ascii_digit())
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
    fn names_and_values_are_above_a_header() {
        check("Account|DE12\nday|text|sum\n1|x|2,5\n2|y|3,5", 1);
        let account = "Account:|DE12|\n\nFrom:|1.1.|\nTo:|2.1.|\nBalance:|1,00|\n\n";
        check(&format!("{account}Day|Value|Text|Sum|\n1|1|x|-8,00|\n2|2|y|1,00|"), 4);
        check(&format!("{account}Day|Value|Text|Sum|\n1|1|x|-8,00|"), 4);
        // Nothing shows that the wider row is a header.
        check("name|sum\na|b|c\nd|e|f", 0);
        check("Account|DE12\nday|text|sum", 0);
        check("a|b|c\nd|e\nday|text|sum|x\n1|2|3|4\n5|6|7|8", 0);
    }

    #[test]
    fn the_cells_of_a_sheet_may_be_numbers() {
        let row = |cells: &[Value]| Row {
            is_after_blank: false,
            cells: cells.to_vec(),
        };
        let text = |text: &str| Value::from(text);
        let above = row(&[text("Account"), Value::from(12)]);
        let header = row(&[text("day"), text("text"), text("sum")]);
        let rows = [
            above,
            header,
            row(&[Value::from(1), text("x"), Value::from(2.5)]),
            row(&[Value::from(2), text("y"), Value::from(3.5)]),
        ];
        assert_eq!(preamble(&rows), 1);
        assert_eq!(preamble(&rows[1..]), 0);
        // A header does not consist of numbers.
        assert_eq!(
            preamble(&[row(&rows[0].cells), row(&rows[2].cells), row(&rows[3].cells)]),
            0
        );
        let [above, ..] = rows;
        assert_eq!(above.into_heading().as_deref(), Some("Account 12"));
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
