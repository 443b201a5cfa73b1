//! [`Table`]: columns and rows.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A table of a file. All rows have as many cells as there are columns.
///
/// ```
/// use agcore_files::Table;
/// use serde_json::json;
///
/// let rows = vec![vec![json!("Lisbon"), json!(21.5)], vec![json!("a|b"), json!(null)]];
/// let table = Table::new("weather.csv", vec!["city".into(), "degrees".into()], rows);
/// assert_eq!(table.to_markdown(), "| city | degrees |\n| --- | --- |\n| Lisbon | 21.5 |\n| a\\|b |  |\n");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Table {
    /// The name of the file.
    pub name: String,
    /// The name of the sheet, if the file has sheets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The row or line of the file in which the table begins, from 1, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The headings above the table, the outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub headings: Vec<String>,
    /// The caption of the table, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caption: Option<String>,
    /// The names of the columns; all different.
    pub columns: Vec<String>,
    /// The rows: texts, numbers, booleans, and `null` for empty cells. Dates are texts as in ISO 8601.
    pub rows: Vec<Vec<Value>>,
    /// For each row, the row of the sheet or the line of the file in which it begins, from 1. Empty if that is not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_numbers: Vec<u32>,
    /// The number of columns of the sheet before the first one of the table.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub columns_before: u32,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl Table {
    /// Creates a table. Short rows are filled up with `null`, and the excess values of long rows are dropped.
    pub fn new(name: impl Into<String>, columns: Vec<String>, mut rows: Vec<Vec<Value>>) -> Self {
        for row in &mut rows {
            row.resize(columns.len(), Value::Null);
        }
        Self {
            name: name.into(),
            sheet: None,
            line: None,
            headings: Vec::new(),
            caption: None,
            columns,
            rows,
            row_numbers: Vec::new(),
            columns_before: 0,
        }
    }

    /// Returns the cells of the sheet that rows of the table have, such as `A2:D11`; `None` if the file has no sheets or the rows
    /// are not known.
    ///
    /// ```
    /// use agcore_files::Table;
    /// use serde_json::json;
    ///
    /// let mut table = Table::new("a.xlsx", vec!["n".into(), "m".into()], vec![vec![json!(1), json!(2)], vec![json!(3)]]);
    /// assert_eq!(table.cells(0..2), None);
    /// (table.sheet, table.row_numbers, table.columns_before) = (Some("S".into()), vec![2, 4], 26);
    /// assert_eq!(table.cells(0..2).as_deref(), Some("AA2:AB4"));
    /// assert_eq!(table.cells(1..2).as_deref(), Some("AA4:AB4"));
    /// ```
    pub fn cells(&self, rows: Range<usize>) -> Option<String> {
        self.sheet.as_ref()?;
        let numbers = self.row_numbers.get(rows)?;
        let width = u32::try_from(self.columns.len()).unwrap_or(u32::MAX).max(1);
        let last_column = self.columns_before.saturating_add(width - 1);
        let (first, last) = (numbers.first()?, numbers.last()?);
        let (left, right) = (column_name(self.columns_before), column_name(last_column));
        let (start, end) = (format!("{left}{first}"), format!("{right}{last}"));
        Some(if start == end { start } else { format!("{start}:{end}") })
    }

    /// Returns the table as a table of GitHub's Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::new();
        write_row(&mut text, self.columns.iter().map(|column| escaped(column)));
        write_row(&mut text, self.columns.iter().map(|_| String::from("---")));
        for row in &self.rows {
            write_row(&mut text, row.iter().map(shown));
        }
        text
    }
}

/// Returns the letters of a column of a sheet, from 0.
fn column_name(mut column: u32) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'A' + u8::try_from(column % 26).unwrap_or(0)));
        match (column / 26).checked_sub(1) {
            Some(rest) => column = rest,
            None => return letters.iter().rev().collect(),
        }
    }
}

fn write_row(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

fn shown(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => escaped(text),
        other => escaped(&other.to_string()),
    }
}

/// A cell of a Markdown table is one line, and a vertical bar ends it.
fn escaped(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").replace('\\', "\\\\").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_spreadsheets() {
        let names = [0, 25, 26, 51, 52, 701, 702, 16_383].map(column_name);
        assert_eq!(names, ["A", "Z", "AA", "AZ", "BA", "ZZ", "AAA", "XFD"]);
    }
}
