//! Rows of text in columns.

use crate::render::columns;

/// Lines with the cells of a column beneath each other; the last cell of a row is as long as it is.
pub(crate) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns(cell).max(*width);
        }
    }
    let line = |row: &[String; N]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| {
            let missing = width.saturating_sub(columns(cell));
            cell.clone() + &" ".repeat(missing)
        });
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::table;

    #[test]
    fn columns_are_counted_as_they_are_shown() {
        let rows = [["a", "b", "c"], ["日本", "", "d"], ["x", "long", ""]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "a     b     c\n日本        d\nx     long\n");
    }
}
