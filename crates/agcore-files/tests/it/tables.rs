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

#[track_caller]
fn check(name: &str, text: &[u8], headings: &[&str], columns: &[&str], rows: Value) {
    let found = read(name, text);
    let table = &found.tables[0];
    let texts = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    assert_eq!((&table.headings, &table.columns), (&texts(headings), &texts(columns)));
    assert_eq!(json!(table.rows), rows);
}

#[test]
fn a_table_may_have_lines_above_it() {
    let account = "Umsätze Girokonto\n\nBuchungstag;Empfänger;Betrag\n02.01.2026;Stadtwerke;-1.234,50\n03.01.2026;Bäckerei;-4,20\n";
    let columns = ["Buchungstag", "Empfänger", "Betrag"];
    let rows = json!([
        ["02.01.2026", "Stadtwerke", "-1.234,50"],
        ["03.01.2026", "Bäckerei", "-4,20"]
    ]);
    check(
        "a.csv",
        account.as_bytes(),
        &["Umsätze Girokonto"],
        &columns,
        rows.clone(),
    );
    // The same with marks of lines, in another encoding, and with a declared separator.
    let windows = account.replace('\n', "\r\n");
    check(
        "a.csv",
        windows.as_bytes(),
        &["Umsätze Girokonto"],
        &columns,
        rows.clone(),
    );
    let latin: Vec<u8> = account.chars().map(|char| char as u8).collect();
    check("a.csv", &latin, &["Umsätze Girokonto"], &columns, rows.clone());
    let little: Vec<u8> = account.encode_utf16().flat_map(u16::to_le_bytes).collect();
    check("a.csv", &little, &["Umsätze Girokonto"], &columns, rows.clone());
    let declared = format!("sep=;\n{}", &account["Umsätze Girokonto\n\n".len()..]);
    check("a.csv", declared.as_bytes(), &[], &columns, rows);
    check("a.csv", b"\n\na;b\n1;2\n", &[], &["a", "b"], json!([["1", "2"]]));
    check("a.csv", b"  \na;b\n1;2\n", &[], &["a", "b"], json!([["1", "2"]]));
    check(
        "a.tab",
        b"Report\na\tb\n1\t2\n3\t4\n",
        &["Report"],
        &["a", "b"],
        json!([["1", "2"], ["3", "4"]]),
    );
    let account = "Account;DE12\nFrom;2026-01-01\n\nday;text;sum\n1;x;2\n2;y;3\n";
    check(
        "a.csv",
        account.as_bytes(),
        &["Account DE12", "From 2026-01-01"],
        &["day", "text", "sum"],
        json!([["1", "x", "2"], ["2", "y", "3"]]),
    );
}

#[test]
fn values_keep_their_decimal_commas() {
    check(
        "a.csv",
        b"Preis\n-1.234,50\n-2,50\n",
        &[],
        &["Preis"],
        json!([["-1.234,50"], ["-2,50"]]),
    );
    check(
        "a.csv",
        b"a;b;c\n1,5;x;\n2,5;y\n",
        &[],
        &["a", "b", "c"],
        json!([["1,5", "x", null], ["2,5", "y", null]]),
    );
}

#[test]
fn names_and_values_may_be_above_a_short_table() {
    check(
        "a.csv",
        b"Account;DE12\nday;text;sum\n1;x;2,5\n2;y;3,5\n",
        &["Account DE12"],
        &["day", "text", "sum"],
        json!([["1", "x", "2,5"], ["2", "y", "3,5"]]),
    );
    let account = "\"Kontonummer:\";\"DE12\";\n\n\"Von:\";\"1.1.\";\n\"Bis:\";\"2.1.\";\n\"Kontostand:\";\"1,00\";\n\n\
                   \"Tag\";\"Wert\";\"Text\";\"Betrag\";\n\"1\";\"1\";\"x\";\"-8,00\";\n\"2\";\"2\";\"y\";\"1,00\";\n";
    let found = read("a.csv", account.as_bytes());
    let table = &found.tables[0];
    assert_eq!(
        table.headings,
        ["Kontonummer: DE12", "Von: 1.1.", "Bis: 2.1.", "Kontostand: 1,00"]
    );
    assert_eq!(table.columns[..4], ["Tag", "Wert", "Text", "Betrag"]);
    assert_eq!(table.rows.len(), 2);
    let notes = "Please note, dear customer, this\n".repeat(30);
    let found = read(
        "a.csv",
        format!("{notes}a;b;c\n1,5;x;y\n2,5;x;y\n3,5;x;y\n4,5;x;y\n").as_bytes(),
    );
    assert_eq!(found.tables[0].headings.len(), 30);
    assert_eq!(found.tables[0].columns, ["a", "b", "c"]);
    assert_eq!(found.tables[0].rows.last().unwrap()[0], "4,5");
}

#[test]
fn lines_may_end_with_a_carriage_return() {
    for text in ["sep=;\ra;b\r1,5;2\r", "\r\ra;b\r1,5;2\r", "sep=; \r\na;b\r\n1,5;2"] {
        check("a.csv", text.as_bytes(), &[], &["a", "b"], json!([["1,5", "2"]]));
    }
    let columns = ["a", "b"];
    check(
        "a.csv",
        b"a,b\r1;x,2\r3;y,4\r",
        &[],
        &columns,
        json!([["1;x", "2"], ["3;y", "4"]]),
    );
    check("a.csv", b"sep=\\t\na\tb\n1\t2\n", &[], &columns, json!([["1", "2"]]));
}

#[test]
fn values_are_never_names() {
    check("a.csv", b"5,5\n", &[], &["column_1", "column_2"], json!([["5", "5"]]));
}

#[test]
fn bytes_that_no_text_has_are_named() {
    use agcore_files::FileProblemKind::Broken;
    problem(patient(), "a.csv", b"a,b\n1,\x002\n", Broken, "contains NUL bytes");
    problem(
        patient(),
        "a.md",
        b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR",
        Broken,
        "its content is image/png",
    );
}
