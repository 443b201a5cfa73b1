//! [`Grid`]: collects the rows of a table.

use std::collections::HashSet;

use serde_json::Value;

use crate::{problem::FileProblem, table::Table, work::Work};

/// A table under construction. Its cells are counted when rows are added, with the empty ones that fill up short rows.
#[derive(Debug, Default)]
pub(crate) struct Grid {
    rows: Vec<Vec<Value>>,
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

    /// Returns the table whose first row has the names of the columns, or `None` if there are no columns.
    pub(crate) fn into_table(mut self, name: &str) -> Option<Table> {
        if self.width == 0 {
            return None;
        }
        let rows = self.rows.split_off(1.min(self.rows.len()));
        let mut header = self.rows.pop()?;
        header.resize(self.width, Value::Null);
        let header = header.into_iter().map(|cell| match cell {
            Value::Null => String::new(),
            Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
            other => other.to_string(),
        });
        Some(Table::new(name, distinct(header.collect()), rows))
    }
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

    #[test]
    fn columns_have_different_names() {
        check(&["a", "b"], &["a", "b"]);
        check(&["a", "", "a"], &["a", "column_2", "a_3"]);
        check(&["a", "a", "a_2"], &["a", "a_3", "a_2"]);
        check(&["", ""], &["column_1", "column_2"]);
    }
}
