//! [`Rows`]: the rows of a table, with cells that span several columns or rows.

use std::mem;

use serde_json::Value;

use crate::{grid::Grid, problem::FileProblem, table::Table, work::Work};

/// The largest number of columns that Word lets a cell span.
const MAX_SPAN: usize = 63;

/// The table that is being read.
#[derive(Debug, Default)]
pub(super) struct Rows {
    grid: Grid,
    row: Vec<Value>,
    /// The row before, with what reaches into this one.
    above: Vec<Value>,
    /// The number of columns of the open cell.
    span: usize,
    /// Whether the open cell continues the one above.
    is_continued: bool,
    /// The number of cells of the row, and the largest number of columns of one.
    cells: usize,
    widest: usize,
    /// Whether a cell of the row continues the one above.
    continues: bool,
    is_deleted: bool,
    is_header: bool,
    /// How many rows at the beginning have names of columns.
    header: usize,
    /// Whether the first row has a name of several columns.
    is_grouped: bool,
    title: String,
}

impl Rows {
    /// Reads a property of the open row or cell.
    pub(super) fn property(&mut self, work: &Work<'_>, name: &str, value: Option<&str>) -> Result<(), FileProblem> {
        let number = || {
            value
                .and_then(|value| value.parse().ok())
                .unwrap_or(1_usize)
                .min(MAX_SPAN)
        };
        match name {
            "tc" => (self.span, self.is_continued) = (1, false),
            "gridSpan" => self.span = number().max(1),
            "vMerge" => self.is_continued = value != Some("restart"),
            "tblHeader" => self.is_header = !matches!(value, Some("0" | "false" | "off")),
            "gridBefore" => {
                self.row.extend((0..number()).map(|_| Value::Null));
                work.check_row(self.row.len())?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Marks the open row as deleted by a change that is tracked.
    pub(super) fn delete_row(&mut self) {
        self.is_deleted = true;
    }

    /// Adds the open cell.
    pub(super) fn push(&mut self, work: &Work<'_>, value: Value) -> Result<(), FileProblem> {
        let span = mem::replace(&mut self.span, 1).max(1);
        self.cells += 1;
        self.widest = self.widest.max(span);
        let mut value = value;
        if mem::take(&mut self.is_continued) {
            self.continues = true;
            if value.is_null() {
                value = self.above.get(self.row.len()).cloned().unwrap_or_default();
            }
        }
        // The name of several columns is that of each; other cells have their value once.
        let is_name = self.grid.len() == 0 || (self.is_header && self.header == self.grid.len());
        let others = if is_name { value.clone() } else { Value::Null };
        self.row.push(value);
        self.row.extend((1..span).map(|_| others.clone()));
        work.check_row(self.row.len())
    }

    /// Ends the open row.
    pub(super) fn end_row(&mut self, work: &Work<'_>) -> Result<(), FileProblem> {
        let mut row = mem::take(&mut self.row);
        let (cells, widest) = (mem::take(&mut self.cells), mem::take(&mut self.widest));
        let (continues, is_header) = (mem::take(&mut self.continues), mem::take(&mut self.is_header));
        if mem::take(&mut self.is_deleted) {
            return Ok(());
        }
        let rows = self.grid.len();
        if rows == 0 && cells == 1 && widest > 1 {
            row.truncate(1);
            let text = row.first().and_then(Value::as_str).unwrap_or_default();
            if !self.title.is_empty() {
                self.title.push(' ');
            }
            self.title.push_str(text);
            return Ok(());
        }
        if rows == 0 {
            self.is_grouped = widest > 1;
        }
        if self.header == rows && (is_header || rows == 0 || (self.is_grouped && continues)) {
            self.header += 1;
        }
        self.above.clone_from(&row);
        self.grid.push(work, row)
    }

    /// Returns the only row of a table, which has no title.
    pub(super) fn only_row(&self) -> Option<&[Value]> {
        self.grid.only_row().filter(|_| self.title.is_empty())
    }

    /// Returns the table and its title.
    pub(super) fn into_table(self, name: &str) -> (Option<Table>, String) {
        (self.grid.into_table_below(name, self.header), self.title)
    }
}
