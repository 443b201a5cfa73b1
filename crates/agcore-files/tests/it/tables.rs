//! CSV and TSV.

use agcore_files::FileProblemKind::LimitExceeded;
use serde_json::{Value, json};

use crate::support::{patient, problem, read};

#[test]
fn values_are_read_with_any_separator() {
    for (name, text) in [
        ("a.csv", "item,price\n\"pear, green\",2\nfig,\n"),
        ("a.csv", "item;price\npear, green;2\nfig;\n"),
        ("a.csv", "\u{feff}item|price\r\npear, green|2\r\nfig|"),
        ("a.tsv", "item\tprice\npear, green\t2\nfig\t\n"),
    ] {
        let found = read(name, text.as_bytes());
        let table = &found.tables[0];
        assert_eq!((found.tables.len(), &*table.name), (1, name));
        assert_eq!(table.columns, ["item", "price"], "{text}");
        assert_eq!(
            table.rows,
            [[json!("pear, green"), json!("2")], [json!("fig"), Value::Null]],
            "{text}"
        );
    }
}

#[test]
fn ragged_rows_are_filled_up() {
    let found = read("a.csv", b"a,a\n1\n1,2,3\n\n");
    assert_eq!(found.tables[0].columns, ["a", "a_2", "column_3"]);
    let rows = [
        [json!("1"), Value::Null, Value::Null],
        [json!("1"), json!("2"), json!("3")],
    ];
    assert_eq!(found.tables[0].rows, rows);
}

#[test]
fn a_file_without_rows_has_no_table() {
    assert!(read("a.csv", b"").tables.is_empty());
    assert_eq!(read("a.csv", b"only,header\n").tables[0].rows.len(), 0);
}

#[test]
fn cells_are_limited() {
    let limits = patient().with_cells(6);
    problem(
        limits.clone(),
        "a.csv",
        b"a,b\n1,2\n3,4\n5,6\n",
        LimitExceeded,
        "more than 6 cells",
    );
    // Empty cells that fill up other rows count.
    problem(limits, "a.csv", b"a\n1\n2\n3,4\n", LimitExceeded, "more than 6 cells");
    let wide = ",".repeat(5_000_000);
    problem(
        patient(),
        "wide.csv",
        wide.as_bytes(),
        LimitExceeded,
        "more than 1000000 cells",
    );
    let unclosed = format!("a,b\n\"{}", "x".repeat(100_000));
    assert_eq!(read("quote.csv", unclosed.as_bytes()).tables[0].rows.len(), 1);
}
