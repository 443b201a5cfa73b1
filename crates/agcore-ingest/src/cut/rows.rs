//! Parts of tables: rows with the names of their columns.

use std::ops::Range;

use agcore_chat::SourcePosition;
use agcore_files::{FileKind, Table};
use serde_json::Value;

use super::passages::Part;

/// The largest number of rows of a part.
pub(super) const ROWS: usize = 20;

/// The number of bytes of cells after which a part has no further row.
const BYTES: usize = 3000;

/// The number of bytes of names of columns for which a part has one row more.
const NAMES_PER_ROW: usize = 50;

/// Returns the parts of a table, each with the names of the columns and the text above the table. A table with nothing but names of
/// columns is one part.
pub(super) fn parts(table: &Table, title: &str) -> Vec<Part> {
    let is_separated = matches!(FileKind::from_name(&table.name), Some(FileKind::Csv | FileKind::Tsv));
    // Headings of a section are shown in the title; those of a sheet are texts above the table.
    let is_in_section = table.sheet.is_none() && !is_separated;
    let title = match (&table.sheet, table.headings.last().filter(|_| is_in_section)) {
        (Some(part), _) | (None, Some(part)) if part != title => format!("{title}: {part}"),
        _ => title.to_owned(),
    };
    let headings = table.headings.iter().filter(|_| !is_in_section);
    let above: String = headings
        .chain(&table.caption)
        .map(|text| format!("{text}\n\n"))
        .collect();
    let names: usize = table.columns.iter().map(String::len).sum();
    let part = |rows: Range<usize>| {
        let shown = Table::new(
            table.name.as_str(),
            table.columns.clone(),
            table.rows[rows.clone()].to_vec(),
        );
        Part {
            title: title.clone(),
            position: position(table, rows, is_in_section),
            text: format!("{above}{}", shown.to_markdown()),
        }
    };
    if table.rows.is_empty() {
        return vec![part(0..0)];
    }
    let mut parts = Vec::new();
    let mut first = 0;
    while first < table.rows.len() {
        let last = first + fitting(&table.rows[first..], names + above.len());
        parts.push(part(first..last));
        first = last;
    }
    parts
}

/// Returns the place of rows: cells of a sheet, lines of a file, or rows below a heading.
fn position(table: &Table, rows: Range<usize>, is_in_section: bool) -> SourcePosition {
    let mut position = SourcePosition::new();
    position.sheet.clone_from(&table.sheet);
    position.cells = table.cells(rows.clone());
    if is_in_section {
        position.headings.clone_from(&table.headings);
    }
    let row = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
    let lines = table
        .row_numbers
        .get(rows.clone())
        .and_then(|lines| Some((*lines.first()?, *lines.last()?)));
    match lines {
        _ if position.cells.is_some() || rows.is_empty() => position,
        Some((first, last)) => position.with_lines(first, last),
        None => position.with_rows(row(rows.start + 1), row(rows.end)),
    }
}

/// Returns how many rows fit into a part, at least one. Parts of tables with long names of columns have more, so that the names do
/// not outweigh the rows.
fn fitting(rows: &[Vec<Value>], above: usize) -> usize {
    let most = ROWS.max(above / NAMES_PER_ROW);
    let limit = BYTES.max(above);
    let mut bytes = 0;
    let fits = |row: &&Vec<Value>| {
        let is_first = bytes == 0;
        let text = |cell: &Value| cell.as_str().map_or(8, str::len) + 3;
        bytes += row.iter().map(text).sum::<usize>().max(1);
        is_first || bytes <= limit
    };
    rows.iter().take(most).take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(name: &str, rows: usize) -> Table {
        let rows = (0..rows).map(|row| vec![json!(row)]).collect();
        Table::new(name, vec!["n".to_owned()], rows)
    }

    fn places(table: &Table) -> Vec<String> {
        parts(table, "").iter().map(|part| part.position.to_string()).collect()
    }

    #[test]
    fn what_is_above_a_table_is_in_its_parts() {
        let mut sheet = table("a.xlsx", 1);
        (sheet.sheet, sheet.row_numbers) = (Some("Sales".to_owned()), vec![7]);
        sheet.headings = vec!["Sales of 2026".to_owned(), "in EUR".to_owned()];
        let part = parts(&sheet, "a.xlsx").remove(0);
        assert_eq!(part.title, "a.xlsx: Sales");
        assert_eq!(part.position.to_string(), "sheet Sales, cells A7");
        assert_eq!(part.text, "Sales of 2026\n\nin EUR\n\n| n |\n| --- |\n| 0 |\n");
        let mut section = table("a.docx", 0);
        section.headings = vec!["Report".to_owned(), "Prices".to_owned()];
        section.caption = Some("Table 1".to_owned());
        let part = parts(&section, "Report").remove(0);
        assert_eq!(
            (part.title.as_str(), part.position.to_string().as_str()),
            ("Report: Prices", "\"Prices\"")
        );
        assert_eq!(part.text, "Table 1\n\n| n |\n| --- |\n");
        let mut values = table("a.csv", 1);
        values.headings = vec!["Account 7".to_owned()];
        let part = parts(&values, "a.csv").remove(0);
        assert!(
            part.title == "a.csv" && part.text.starts_with("Account 7\n\n| n |"),
            "{part:?}"
        );
    }

    #[test]
    fn parts_have_a_limited_number_of_rows_and_bytes() {
        assert_eq!(places(&table("a.html", 21)), ["rows 1 to 20", "row 21"]);
        let mut lines = table("a.csv", 21);
        lines.row_numbers = (2..23).collect();
        assert_eq!(places(&lines), ["lines 2 to 21", "line 22"]);
        let long = |bytes: usize| vec![json!("x".repeat(bytes))];
        let rows = vec![long(9000), long(9000), long(1400), long(1400), long(1400)];
        let table = Table::new("a.html", vec!["n".to_owned()], rows);
        assert_eq!(places(&table), ["row 1", "row 2", "rows 3 to 4", "row 5"]);
    }

    #[test]
    fn long_names_of_columns_do_not_multiply() {
        let columns = (0..100).map(|column| format!("{column}{}", "x".repeat(1000))).collect();
        let rows = (0..5000).map(|row| vec![json!(row); 100]).collect();
        let table = Table::new("a.csv", columns, rows);
        let bytes: usize = parts(&table, "a").iter().map(|part| part.text.len()).sum();
        // Parts of 20 rows would have 25 MB of names.
        assert!(bytes < 12_000_000, "{bytes}");
    }
}
