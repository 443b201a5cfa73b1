//! HTML.

use serde_json::{Value, json};

use crate::support::{document, read};

#[track_caller]
fn check(html: &str, expected: &str) {
    assert_eq!(document("page.html", html.as_bytes()).text(), expected);
}

#[test]
fn only_visible_text_is_read() {
    check("<p>one<p>two", "one\n\ntwo");
    check(
        "a <b>bold</b>, <i>nested</i>\n  line<br>break",
        "a bold, nested line break",
    );
    check(
        "<script>if (a < b) x('<p>no</p>')</script>yes<style>p{}</style><!-- no -->",
        "yes",
    );
    check("<svg><text>no</text><svg></svg>no</svg>yes", "yes");
    check("1 &lt; 2 &amp;&nbsp;3 &#x1F600;", "1 < 2 & 3 😀");
    check("<ul><li>a<li>b</ul>c", "a\n\nb\n\nc");
    check("<pre>a\n  b</pre> c  d", "a\n  b\n\nc d");
    check("<textarea><p>x</textarea>", "<p>x");
    check("</p></div></table></li>x", "x");
    check("", "");
}

#[test]
fn headings_titles_and_lines_are_known() {
    let html = "<!doctype html>\n<title>A &amp; B</title>\n<h1>One</h1>\n<p>first\n<h2>Two</h2>\n\n<p>second</p>";
    let page = document("page", html.as_bytes());
    assert_eq!(page.title.as_deref(), Some("A & B"));
    let found: Vec<_> = page
        .passages
        .iter()
        .map(|passage| (passage.text.as_str(), &passage.position.headings, passage.position.line))
        .collect();
    assert_eq!(
        found,
        [
            ("One\n\nfirst", &vec!["One".to_owned()], Some(3)),
            ("Two\n\nsecond", &vec!["One".to_owned(), "Two".to_owned()], Some(5)),
        ]
    );
}

#[test]
fn tables_are_read_even_without_end_tags() {
    let html = "<h1>T</h1><table><caption>C</caption><thead><tr><th>a<th>b</thead>\
                <tr><td>1<td><p>x<p>y<tr><td><td><table><tr><td>in<td>ner</table></table>after";
    let found = read("page.html", html.as_bytes());
    let table = &found.tables[0];
    assert_eq!(
        (found.tables.len(), &table.columns),
        (1, &vec!["a".to_owned(), "b".to_owned()])
    );
    assert_eq!(table.rows, [[json!("1"), json!("x y")], [Value::Null, json!("in ner")]]);
    assert_eq!(table.headings, ["T"]);
    assert_eq!(table.caption.as_deref(), Some("C"));
    assert_eq!(found.documents[0].text(), "T\n\nafter");
}

#[test]
fn a_table_that_is_not_closed_is_read() {
    let found = read("page.html", b"<table><tr><td>a<td>b<tr><td>1");
    assert_eq!(found.tables[0].rows, [[json!("1"), Value::Null]]);
    assert!(found.documents.is_empty());
}

#[test]
fn a_table_with_one_row_is_text() {
    let html = "<title>T</title><table width=100%><tr><td>Navigation<td><p>The article.<p>More.</table>";
    let found = read("page.html", html.as_bytes());
    assert!(found.tables.is_empty());
    assert_eq!(found.documents[0].text(), "Navigation\n\nThe article. More.");
    // A caption without rows, and text between cells.
    check("<table><caption>C</caption></table>x", "C\n\nx");
    check("<table><workbook><row><cell>a</cell></row></workbook></table>", "a");
    check("<table><tr>between<td>a<td>b</table>", "between\n\na\n\nb");
}

#[track_caller]
fn check_table(html: &str, caption: Option<&str>, columns: &[&str], rows: Value) {
    let found = read("page.html", html.as_bytes());
    let table = &found.tables[0];
    assert_eq!(
        (table.caption.as_deref(), &table.columns),
        (caption, &columns.iter().map(|&column| column.to_owned()).collect())
    );
    assert_eq!(json!(table.rows), rows, "{html}");
}

#[test]
fn cells_that_reach_over_rows_and_columns_stay_in_their_columns() {
    let sales = "<table><tr><th>Region<th>Month<th>Sales</tr><tr><td rowspan=2>North<td>Jan<td>10</tr><tr><td>Feb<td>20</tr>\
                 <tr><td rowspan=0>South<td>Jan<td>30</tr><tr><td>Feb<td>40</tr></table>";
    let rows = json!([
        ["North", "Jan", "10"],
        ["North", "Feb", "20"],
        ["South", "Jan", "30"],
        ["South", "Feb", "40"]
    ]);
    check_table(sales, None, &["Region", "Month", "Sales"], rows);
    // A value of several columns is in the first one.
    let total = "<table><tr><th>a<th>b<th>c<tr><td>1<td>2<td>3<tr><td colspan=2>Total<td>6</table>";
    check_table(
        total,
        None,
        &["a", "b", "c"],
        json!([["1", "2", "3"], ["Total", null, "6"]]),
    );
    // A cell in the last column, and one in the middle.
    let last = "<table><tr><th>a<th>b<th>c<tr><td>1<td rowspan=2>2<td rowspan=2>3<tr><td>4</table>";
    check_table(last, None, &["a", "b", "c"], json!([["1", "2", "3"], ["4", "2", "3"]]));
    let both = "<table><tr><th>a<th>b<th>c<tr><td rowspan=2 colspan=2>x<td>1<tr><td>2</table>";
    check_table(
        both,
        None,
        &["a", "b", "c"],
        json!([["x", null, "1"], ["x", null, "2"]]),
    );
    // A group of rows ends what reaches down.
    let groups = "<table><thead><tr><th>a<th>b<tbody><tr><td rowspan=9>x<td>1<tbody><tr><td>y<td>2</table>";
    check_table(groups, None, &["a", "b"], json!([["x", "1"], ["y", "2"]]));
    // A row without cells is one of those that are reached.
    let empty = "<table><tr><th>a<th>b<tr><td rowspan=2>x<td rowspan=2>1<tr></tr><tr><td>y<td>2</table>";
    check_table(empty, None, &["a", "b"], json!([["x", "1"], ["y", "2"]]));
}

#[test]
fn names_of_columns_may_have_several_rows() {
    let heads = "<table><tr><th rowspan=2>City<th colspan=2>2026<tr><th>May<th>June<tr><td>Ulm<td>1<td>2</table>";
    let columns = ["City", "2026 May", "2026 June"];
    check_table(heads, None, &columns, json!([["Ulm", "1", "2"]]));
    check_table(&heads.replace("<th", "<td"), None, &columns, json!([["Ulm", "1", "2"]]));
    let thead =
        "<table><thead><tr><td><td colspan=2>2026<tr><td>City<td>May<td>June<tbody><tr><td>Ulm<td>1<td>2</table>";
    check_table(thead, None, &columns, json!([["Ulm", "1", "2"]]));
    let phone = "<table><tr><th>Name<th colspan=2>Phone<tr><td>Ann<td>1<td>2</table>";
    check_table(phone, None, &["Name", "Phone", "Phone_3"], json!([["Ann", "1", "2"]]));
    let title = "<table><tr><td colspan=2>Prices<tr><td>item<td>eur<tr><td>pear<td>2</table>";
    check_table(title, Some("Prices"), &["item", "eur"], json!([["pear", "2"]]));
}

#[test]
fn spans_of_hostile_tables_are_limited() {
    let html = format!("<table>{}", "<tr><td colspan=1000 rowspan=65534>x".repeat(2000));
    crate::support::problem(
        crate::support::patient(),
        "page.html",
        html.as_bytes(),
        agcore_files::FileProblemKind::LimitExceeded,
        "cells",
    );
}

#[test]
fn readings_are_not_part_of_words() {
    check(
        "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</ruby>を読む",
        "漢字を読む",
    );
    check("<ruby>東京<rt>とうきょう</ruby><p>次", "東京\n\n次");
}

#[test]
fn declared_encodings_are_read() {
    let check = |html: &[u8], expected: &str| assert_eq!(document("page.html", html).text(), expected);
    check(
        b"<html><head><meta http-equiv=content-type content=\"text/html; charset=gb2312\"></head><body><p>\xbc\xdb\xb8\xf1</p></body></html>",
        "价格",
    );
    check(b"<meta charset=iso-8859-15>5 \xa4 f\xfcr \xbcuvre", "5 € für Œuvre");
    check(
        b"<?xml version=\"1.0\" encoding=\"Shift_JIS\"?><html><p>\x89\xbf\x8ai",
        "価格",
    );
    check(b"\xff\xfe<\0p\0>\0\xf7\x4e", "价");
    check("<meta charset=gbk>grün ✓ ok".as_bytes(), "grün ✓ ok");
}
