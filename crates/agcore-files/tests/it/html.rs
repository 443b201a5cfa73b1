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
    assert_eq!(found.documents[0].text(), "T\n\nC\n\nafter");
}

#[test]
fn a_table_that_is_not_closed_is_read() {
    let found = read("page.html", b"<table><tr><td>a<td>b<tr><td>1");
    assert_eq!(found.tables[0].rows, [[json!("1"), Value::Null]]);
    assert!(found.documents.is_empty());
}
