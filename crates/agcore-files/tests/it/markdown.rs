//! Markdown.

use serde_json::{Value, json};

use crate::support::{document, read};

const GUIDE: &str = "---\nauthor: me\n---\n# The *guide*\n\nHello `world`.\n\n## Lists\n\n- one\n- # not a section\n\n| a | b |\n|---|---|\n| 1 | x \\| y |\n| | **z** |\n\n# Second\n\n```sh\n# comment\n```\n";

#[test]
fn passages_are_below_their_headings() {
    let guide = document("guide.md", GUIDE.as_bytes());
    assert_eq!(guide.title.as_deref(), Some("The guide"));
    let found: Vec<_> = guide
        .passages
        .iter()
        .map(|passage| {
            (
                passage.position.headings.join("/"),
                passage.position.line,
                passage.text.lines().next().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("The guide".to_owned(), Some(4), "# The *guide*"),
            ("The guide/Lists".to_owned(), Some(8), "## Lists"),
            ("Second".to_owned(), Some(18), "# Second"),
        ]
    );
    assert!(guide.passages[2].text.ends_with("```sh\n# comment\n```"));
}

#[test]
fn tables_are_read() {
    let found = read("guide.md", GUIDE.as_bytes());
    assert_eq!(found.tables.len(), 1);
    let table = &found.tables[0];
    assert_eq!(table.columns, ["a", "b"]);
    assert_eq!(table.rows, [[json!("1"), json!("x | y")], [Value::Null, json!("z")]]);
    assert_eq!(table.headings, ["The guide", "Lists"]);
}

#[test]
fn a_heading_closes_deeper_ones() {
    let text = "# A\n\n### C\n\nx\n\n## B\n\ny\n";
    let paths: Vec<_> = document("a.md", text.as_bytes())
        .passages
        .into_iter()
        .map(|p| p.position.headings)
        .collect();
    assert_eq!(paths, [vec!["A"], vec!["A", "C"], vec!["A", "B"]]);
}
