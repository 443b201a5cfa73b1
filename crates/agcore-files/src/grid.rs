//! [`Grid`]: collects the rows of a table.

use std::collections::HashSet;

use serde_json::Value;

use crate::{problem::FileProblem, table::Table, work::Work};

/// A table under construction. Its cells are counted when rows are added, with the empty ones that fill up short rows.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Vec<Value>>,
    /// The number of each row in the file, if all are known.
    numbers: Vec<u32>,
    width: usize,
}

impl Grid {
    /// Adds a row.
    pub(crate) fn push(&mut self, work: &Work<'_>, row: Vec<Value>) -> Result<(), FileProblem> {
        work.check()?;
        let wider = row.len().saturating_sub(self.width);
        // A wide row widens all rows before it.
        work.count_cells(wider.saturating_mul(self.rows.len()))?;
        self.width += wider;
        work.count_cells(self.width)?;
        self.rows.push(row);
        Ok(())
    }

    /// Adds a row with its number in the file.
    #[cfg(any(feature = "csv", feature = "xlsx"))]
    pub(crate) fn push_numbered(&mut self, work: &Work<'_>, row: Vec<Value>, number: u32) -> Result<(), FileProblem> {
        self.push(work, row)?;
        self.numbers.push(number);
        Ok(())
    }

    /// Returns the number of rows.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the only row, or `None` if there are more or none.
    #[cfg(any(feature = "html", feature = "docx"))]
    pub(crate) fn only_row(&self) -> Option<&[Value]> {
        match self.rows.as_slice() {
            [row] => Some(row),
            _ => None,
        }
    }

    /// Returns the table whose first row has the names of the columns, or `None` if there are no columns.
    ///
    /// A single row that cannot be names, because it has a number, an empty cell or the same text twice, is a row of the table.
    pub(crate) fn into_table(self, name: &str) -> Option<Table> {
        self.into_table_below(name, 1)
    }

    /// Returns the table whose first rows have the names of the columns. Names in several rows are joined: a column below
    /// `2026` and `May` is `2026 May`.
    pub(crate) fn into_table_below(mut self, name: &str, header: usize) -> Option<Table> {
        if self.width == 0 {
            return None;
        }
        if self.rows.len() == 1 && !is_names(&self.rows[0], self.width) {
            let columns = distinct(vec![String::new(); self.width]);
            let mut table = Table::new(name, columns, self.rows);
            table.row_numbers = self.numbers;
            return Some(table);
        }
        let header = header.clamp(1, self.rows.len().saturating_sub(1).max(1));
        let rows = self.rows.split_off(header.min(self.rows.len()));
        let names = (0..self.width).map(|column| {
            let mut parts: Vec<String> = Vec::new();
            for part in self.rows.iter().filter_map(|row| row.get(column)).map(name_of) {
                // A cell that reaches over several rows is the same in each.
                if !part.is_empty() && parts.last() != Some(&part) {
                    parts.push(part);
                }
            }
            parts.join(" ")
        });
        let names = distinct(names.collect());
        let mut table = Table::new(name, names, rows);
        if self.numbers.len() == self.rows.len() + table.rows.len() {
            table.row_numbers = self.numbers.split_off(self.rows.len());
        }
        Some(table)
    }
}

/// Returns a cell as the name of a column: one line.
fn name_of(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// Returns whether all cells of a row can be names of columns.
fn is_names(row: &[Value], width: usize) -> bool {
    let mut seen = HashSet::new();
    row.len() == width
        && row
            .iter()
            .all(|cell| cell.as_str().is_some_and(|text| seen.insert(text)))
}

/// Names nameless columns by their numbers, and numbers those with the same name.
fn distinct(names: Vec<String>) -> Vec<String> {
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    let mut seen = HashSet::new();
    let mut number = 0;
    let mut columns = Vec::with_capacity(names.len());
    for (index, name) in names.into_iter().enumerate() {
        if !name.is_empty() && seen.insert(name.clone()) {
            columns.push(name);
            continue;
        }
        let base = if name.is_empty() { "column" } else { &name };
        // Numbers only grow, so that many columns that are called `column_N` do not cost more than others.
        number = number.max(index) + 1;
        let mut candidate = format!("{base}_{number}");
        while !taken.insert(candidate.clone()) {
            number += 1;
            candidate = format!("{base}_{number}");
        }
        columns.push(candidate);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &[&str], expected: &[&str]) {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        assert_eq!(distinct(names), expected);
    }

    #[track_caller]
    fn check_table(rows: &[&[Value]], header: usize, columns: &[&str], below: usize) {
        let width = rows.iter().map(|row| row.len()).max().unwrap_or_default();
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        let numbers = Vec::new();
        let table = Grid { rows, numbers, width }.into_table_below("a", header).unwrap();
        assert_eq!(
            (table.columns.as_slice(), table.rows.len()),
            (&columns.iter().map(|&c| c.to_owned()).collect::<Vec<_>>()[..], below)
        );
    }

    #[test]
    fn the_names_of_columns_may_have_several_rows() {
        let text = |text: &str| Value::from(text);
        let row: &[Value] = &[text("City"), text("2026"), text("2026")];
        let months: &[Value] = &[text("City"), text("May"), text("June")];
        let values: &[Value] = &[text("Ulm"), Value::from(1), Value::Null];
        check_table(&[row, months, values], 2, &["City", "2026 May", "2026 June"], 1);
        check_table(&[row, values], 1, &["City", "2026", "2026_3"], 1);
        // The last row is never a name.
        check_table(&[row, months], 5, &["City", "2026", "2026_3"], 1);
    }

    #[test]
    fn a_single_row_is_names_or_values() {
        check_table(&[&[Value::from("a"), Value::from("b")]], 1, &["a", "b"], 0);
        check_table(&[&[Value::from("a"), Value::from(1)]], 1, &["column_1", "column_2"], 1);
        check_table(
            &[&[Value::from("a"), Value::from("a")]],
            1,
            &["column_1", "column_2"],
            1,
        );
        check_table(&[&[Value::from("a"), Value::Null]], 1, &["column_1", "column_2"], 1);
    }

    #[test]
    fn columns_have_different_names() {
        check(&["a", "b"], &["a", "b"]);
        check(&["a", "", "a"], &["a", "column_2", "a_3"]);
        check(&["a", "a", "a_2"], &["a", "a_3", "a_2"]);
        check(&["", ""], &["column_1", "column_2"]);
    }
}
