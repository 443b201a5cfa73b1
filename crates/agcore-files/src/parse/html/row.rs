//! [`Row`]: the cells of a row, with those that reach into it from the rows above.

use serde_json::Value;

use crate::{problem::FileProblem, work::Work};

/// The largest number of columns of a cell, as in browsers.
const MAX_COLUMNS: usize = 1000;

/// The largest number of rows of a cell, as in browsers.
const MAX_ROWS: usize = 65_534;

/// The number of columns and rows that a cell occupies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Span {
    /// Reads the values of the attributes. Zero rows are all that follow.
    pub(super) fn new(columns: Option<&str>, rows: Option<&str>) -> Self {
        let number = |value: Option<&str>| leading_number(value.unwrap_or_default());
        Self {
            columns: number(columns).unwrap_or(1).clamp(1, MAX_COLUMNS),
            rows: match number(rows) {
                Some(0) => MAX_ROWS,
                rows => rows.unwrap_or(1).min(MAX_ROWS),
            },
        }
    }
}

impl Default for Span {
    fn default() -> Self {
        Self { columns: 1, rows: 1 }
    }
}

/// A cell that reaches into rows below.
#[derive(Debug, Clone, Default)]
struct Below {
    rows: usize,
    value: Value,
}

/// The row that is being read.
#[derive(Debug, Default)]
pub(super) struct Row {
    cells: Vec<Value>,
    /// For each column, what reaches into the rows below.
    below: Vec<Below>,
    /// The number of cells that begin in this row.
    own: usize,
    /// The largest number of columns and of rows that a cell of this row has.
    widest: usize,
    tallest: usize,
}

impl Row {
    /// Adds a cell. Its value is that of all rows that it reaches, but of its first column only, unless it `is_name` of columns.
    pub(super) fn push(
        &mut self,
        work: &Work<'_>,
        value: &Value,
        span: Span,
        is_name: bool,
    ) -> Result<(), FileProblem> {
        self.fill();
        work.check_row(self.cells.len() + span.columns)?;
        self.own += 1;
        self.widest = self.widest.max(span.columns);
        self.tallest = self.tallest.max(span.rows);
        for column in 0..span.columns {
            let value = if column == 0 || is_name {
                value.clone()
            } else {
                Value::Null
            };
            let place = self.cells.len();
            if span.rows > 1 {
                self.below.resize(self.below.len().max(place + 1), Below::default());
            }
            if let Some(below) = self.below.get_mut(place) {
                *below = Below {
                    rows: span.rows - 1,
                    value: value.clone(),
                };
            }
            self.cells.push(value);
        }
        Ok(())
    }

    /// Returns the number of cells that begin in this row, and the largest number of columns and rows of one.
    pub(super) fn shape(&self) -> (usize, usize, usize) {
        (self.own, self.widest, self.tallest)
    }

    /// Ends the row, and returns its cells; none if no cell begins in it.
    pub(super) fn end(&mut self) -> Vec<Value> {
        self.fill();
        let reached = self.below.iter().rposition(|below| below.rows > 0);
        while reached.is_some_and(|reached| self.cells.len() <= reached) {
            self.cells.push(Value::Null);
            self.fill();
        }
        let cells = std::mem::take(&mut self.cells);
        let own = std::mem::take(&mut self.own);
        (self.widest, self.tallest) = (0, 0);
        if own == 0 { Vec::new() } else { cells }
    }

    /// Ends a group of rows, which no cell leaves.
    pub(super) fn end_group(&mut self) {
        self.below.clear();
    }

    /// Adds the cells that reach into this row from above.
    fn fill(&mut self) {
        while let Some(below) = self.below.get_mut(self.cells.len()).filter(|below| below.rows > 0) {
            below.rows -= 1;
            self.cells.push(below.value.clone());
        }
    }
}

/// Returns the digits at the beginning of a text, as browsers read numbers. A number that is too large is the largest.
fn leading_number(text: &str) -> Option<usize> {
    let text = text.trim_start().trim_start_matches('+');
    let end = text.find(|char: char| !char.is_ascii_digit()).unwrap_or(text.len());
    let digits = &text[..end];
    (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_as_in_browsers() {
        for (text, expected) in [
            ("2", Some(2)),
            (" +3x", Some(3)),
            ("", None),
            ("x", None),
            ("-1", None),
            ("99999999999999999999999", Some(usize::MAX)),
        ] {
            assert_eq!(leading_number(text), expected, "{text:?}");
        }
        assert_eq!(
            Span::new(Some("0"), Some("0")),
            Span {
                columns: 1,
                rows: MAX_ROWS
            }
        );
        assert_eq!(Span::new(None, Some("9999999")).rows, MAX_ROWS);
    }
}
