//! Word documents.

use agcore_files::FileProblemKind::{Broken, LimitExceeded};
use serde_json::{Value, json};

use crate::support::{document, patient, problem, read, sample, word};

#[test]
fn a_handbook_is_read_with_its_headings_and_tables() {
    let found = read("garden.docx", &sample("garden.docx"));
    let handbook = &found.documents[0];
    assert_eq!(handbook.title.as_deref(), Some("Garden handbook"));
    let passages: Vec<_> = handbook
        .passages
        .iter()
        .map(|passage| {
            (
                passage.text.as_str(),
                passage.position.headings.join("/"),
                passage.position.page,
            )
        })
        .collect();
    let watering = "Watering\n\nWater the beds in the morning.\tNever at noon.\n\nRain water\n\nTap water";
    let garden = "Garden\n\nThe garden has two beds & one shed.";
    assert_eq!(
        passages,
        [
            (garden, "Garden".to_owned(), Some(1)),
            (watering, "Garden/Watering".to_owned(), Some(1)),
            ("Wörter – 词语\n\n日本語の段落。", "Wörter – 词语".to_owned(), Some(2)),
        ]
    );
    let table = &found.tables[0];
    assert_eq!(
        (found.tables.len(), &table.headings),
        (1, &vec!["Garden".to_owned(), "Watering".to_owned()])
    );
    assert_eq!(table.columns, ["bed", "litres", "note"]);
    let rows = [
        [json!("east"), json!("10"), Value::Null],
        [json!("west"), json!("12"), json!("dry")],
        [json!("both"), Value::Null, json!("22")],
    ];
    assert_eq!(table.rows, rows);
}

#[track_caller]
fn check(body: &str, expected: &str) {
    assert_eq!(document("a.docx", &word(body)).text(), expected);
}

#[test]
fn only_what_is_shown_is_read() {
    check("<w:p><w:r><w:t>a&amp;b&#x20AC;</w:t></w:r></w:p>", "a&b€");
    check(
        "<w:p><w:r><w:t>new</w:t></w:r><w:del><w:r><w:delText>old</w:delText></w:r></w:del></w:p>",
        "new",
    );
    check(
        "<w:p><w:pPr><w:tabs><w:tab w:val=\"left\"/></w:tabs></w:pPr><w:r><w:t>x</w:t><w:tab/><w:t>y</w:t></w:r></w:p>",
        "x\ty",
    );
    check("<w:p><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>", "");
    let alternative = "<m:AlternateContent><m:Choice><w:t>a</w:t></m:Choice><m:Fallback><w:t>a</w:t></m:Fallback></m:AlternateContent>";
    check(&format!("<w:p><w:r>{alternative}</w:r></w:p>"), "a");
    check(
        "<w:p><w:r><w:t>out</w:t></w:r><w:r><w:txbxContent><w:p><w:r><w:t>box</w:t></w:r></w:p></w:txbxContent></w:r></w:p>",
        "box\n\nout",
    );
}

#[test]
fn inner_tables_are_text_of_their_cell() {
    let inner = "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc></w:tr></w:tbl>";
    let body = format!(
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc></w:tr><w:tr><w:tc>{inner}</w:tc></w:tr></w:tbl>"
    );
    let found = read("a.docx", &word(&body));
    assert_eq!(found.tables.len(), 1);
    assert_eq!(found.tables[0].rows, [[json!("in")]]);
    assert!(found.documents.is_empty());
}

#[test]
fn hostile_documents_are_refused() {
    problem(
        patient(),
        "a.docx",
        &word("<w:p>&lol;</w:p><w:p><w:r><w:t>&lol;</w:t></w:r></w:p>"),
        Broken,
        "entity",
    );
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;\">]><x>&b;</x>";
    let file = crate::support::archive(&[("word/document.xml", bomb.as_bytes())]);
    problem(patient(), "a.docx", &file, Broken, "declares XML entities");
    problem(patient(), "a.docx", &word("<w:p></w:r>"), Broken, "XML with an error");
    let wide = format!(
        "<w:tbl><w:tr>{}</w:tr></w:tbl>",
        "<w:tc><w:tcPr><w:gridSpan w:val=\"63\"/></w:tcPr></w:tc>".repeat(20_000)
    );
    problem(patient(), "a.docx", &word(&wide), LimitExceeded, "cells");
    let pages = "<w:p><w:r><w:br w:type=\"page\"/></w:r></w:p>".repeat(9);
    problem(
        patient().with_pages(9),
        "a.docx",
        &word(&pages),
        LimitExceeded,
        "more than 9 pages",
    );
    // Elements in elements.
    let deep = "<w:p>".repeat(200_000);
    problem(patient(), "a.docx", &word(&deep), Broken, "XML with an error");
}
