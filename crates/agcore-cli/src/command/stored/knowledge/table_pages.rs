//! Pages of tables.

use agcore::files::{FileKind, Table};
use serde_json::Value;

/// The largest number of rows of a table in a page.
const ROWS: usize = 50;

/// The number of bytes of cells after which a page has no further row.
const BYTES: usize = 8000;

/// Returns title, position and text of the parts of a table. A table with nothing but names of columns is one part.
pub(super) fn parts(table: &Table, title: &str) -> Vec<(String, String, String)> {
    let is_separated = matches!(FileKind::from_name(&table.name), Some(FileKind::Csv | FileKind::Tsv));
    // Headings of a section are shown in the title; those of a sheet are texts above the table.
    let is_in_section = table.sheet.is_none() && !is_separated;
    let title = match (&table.sheet, table.headings.last().filter(|_| is_in_section)) {
        (Some(part), _) | (None, Some(part)) if part != title => format!("{title}: {part}"),
        _ => title.to_owned(),
    };
    let headings = table.headings.iter().filter(|_| !is_in_section);
    let above: Vec<&str> = headings.chain(&table.caption).map(String::as_str).collect();
    let place = match &table.sheet {
        Some(sheet) => format!("{}, sheet {sheet}", table.name),
        None => table.name.clone(),
    };
    let part = |rows: &[Vec<Value>], position: String| {
        let rows = Table::new(table.name.as_str(), table.columns.clone(), rows.to_vec());
        let text = above.iter().map(|text| format!("{text}\n\n")).collect::<String>() + &rows.to_markdown();
        (title.clone(), position, text)
    };
    if table.rows.is_empty() {
        return vec![part(&[], format!("{place}, names of columns"))];
    }
    let mut parts = Vec::new();
    let mut first = 0;
    while first < table.rows.len() {
        let rows = &table.rows[first..];
        let rows = &rows[..fitting(rows)];
        let last = first + rows.len();
        parts.push(part(rows, format!("{place}, rows {} to {last}", first + 1)));
        first = last;
    }
    parts
}

/// Returns how many rows fit into a page, at least one.
fn fitting(rows: &[Vec<Value>]) -> usize {
    let mut bytes = 0;
    let fits = |row: &&Vec<Value>| {
        let is_first = bytes == 0;
        let text = |cell: &Value| cell.as_str().map_or(8, str::len) + 3;
        bytes += row.iter().map(text).sum::<usize>().max(1);
        is_first || bytes <= BYTES
    };
    rows.iter().take(ROWS).take_while(fits).count().max(1)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(name: &str, rows: usize) -> Table {
        let rows = (0..rows).map(|row| vec![json!(row)]).collect();
        Table::new(name, vec!["n".to_owned()], rows)
    }

    #[test]
    fn what_is_above_a_table_is_in_its_pages() {
        let mut sheet = table("a.xlsx", 1);
        sheet.sheet = Some("Sales".to_owned());
        sheet.headings = vec!["Sales of 2026".to_owned(), "in EUR".to_owned()];
        let found = parts(&sheet, "a.xlsx");
        assert_eq!(
            found,
            [(
                "a.xlsx: Sales".to_owned(),
                "a.xlsx, sheet Sales, rows 1 to 1".to_owned(),
                "Sales of 2026\n\nin EUR\n\n| n |\n| --- |\n| 0 |\n".to_owned(),
            )]
        );
        let mut section = table("a.docx", 0);
        section.headings = vec!["Report".to_owned(), "Prices".to_owned()];
        section.caption = Some("Table 1".to_owned());
        let (title, position, text) = parts(&section, "Report").remove(0);
        assert_eq!(
            (title.as_str(), position.as_str()),
            ("Report: Prices", "a.docx, names of columns")
        );
        assert_eq!(text, "Table 1\n\n| n |\n| --- |\n");
        let mut values = table("a.csv", 1);
        values.headings = vec!["Account 7".to_owned()];
        let (title, _, text) = parts(&values, "a.csv").remove(0);
        assert!(
            title == "a.csv" && text.starts_with("Account 7\n\n| n |"),
            "{title}: {text}"
        );
    }

    #[test]
    fn pages_have_a_limited_number_of_rows_and_bytes() {
        let positions = |table: &Table| parts(table, "").into_iter().map(|part| part.1).collect::<Vec<_>>();
        assert_eq!(
            positions(&table("a.csv", 51)),
            ["a.csv, rows 1 to 50", "a.csv, rows 51 to 51"]
        );
        let long = |bytes: usize| vec![json!("x".repeat(bytes))];
        let rows = vec![long(9000), long(9000), long(3000), long(3000), long(3000)];
        let table = Table::new("a.csv", vec!["n".to_owned()], rows);
        assert_eq!(
            positions(&table),
            [
                "a.csv, rows 1 to 1",
                "a.csv, rows 2 to 2",
                "a.csv, rows 3 to 4",
                "a.csv, rows 5 to 5"
            ]
        );
    }
}
