//! [`Table`]: columns and rows.

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
        }
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
