//! Word documents.

use agcore_files::FileProblemKind::{Broken, LimitExceeded};
use serde_json::{Value, json};

use crate::support::{archive, document, patient, problem, read, sample, word};

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
    let file = archive(&[("word/document.xml", bomb.as_bytes())]);
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

const MAIN: &str = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

fn part(root: &str, body: &str) -> String {
    format!("<?xml version=\"1.0\"?><w:{root} xmlns:w=\"{MAIN}\" xmlns:r=\"{OFFICE}\">{body}</w:{root}>")
}

fn relations(targets: &[(&str, &str)]) -> String {
    let relation = |(kind, target): &(&str, &str)| {
        format!("<Relationship Id=\"{kind}\" Type=\"{OFFICE}/{kind}\" Target=\"{target}\"/>")
    };
    let relations: String = targets.iter().map(relation).collect();
    format!("<Relationships>{relations}</Relationships>")
}

fn paragraph(text: &str) -> String {
    format!("<w:p><w:r><w:t>{text}</w:t></w:r></w:p>")
}

#[test]
fn parts_are_found_by_their_relations() {
    let root = relations(&[("officeDocument", "/word/document2.xml")]);
    let own = relations(&[("styles", "styles2.xml"), ("footnotes", "notes\\footnotes2.xml")]);
    let heading = "<w:p><w:pPr><w:pStyle w:val=\"h\"/></w:pPr><w:r><w:t>Prices</w:t></w:r></w:p>";
    let document = part("document", &format!("<w:body>{heading}{}</w:body>", paragraph("Intro")));
    let styles = part(
        "styles",
        "<w:style w:styleId=\"h\"><w:name w:val=\"heading 1\"/></w:style>",
    );
    let notes = part("footnotes", &paragraph("A note"));
    for slash in ["/", "\\"] {
        let name = |name: &str| name.replace('/', slash);
        let file = archive(&[
            (&name("_rels/.rels"), root.as_bytes()),
            (&name("word/document2.xml"), document.as_bytes()),
            (&name("word/_rels/document2.xml.rels"), own.as_bytes()),
            (&name("word/styles2.xml"), styles.as_bytes()),
            (&name("word/notes/footnotes2.xml"), notes.as_bytes()),
        ]);
        let found = document_of(&file);
        assert_eq!(found.text(), "Prices\n\nIntro\n\nA note");
        assert_eq!(found.passages[0].position.headings, ["Prices"]);
    }
}

fn document_of(file: &[u8]) -> agcore_files::Document {
    document("a.docx", file)
}

#[test]
fn parts_may_be_in_other_encodings() {
    let text = part("document", &format!("<w:body>{}</w:body>", paragraph("größer 价")));
    let utf16 = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let marked = format!("\u{feff}{}", text.replace("\"1.0\"", "\"1.0\" encoding=\"UTF-16\""));
    for content in [
        utf16(&marked, u16::to_le_bytes),
        utf16(&marked, u16::to_be_bytes),
        utf16(&text, u16::to_le_bytes),
    ] {
        assert_eq!(
            document_of(&archive(&[("word/document.xml", &content)])).text(),
            "größer 价"
        );
    }
    let latin = text
        .replace("\"1.0\"", "\"1.0\" encoding='ISO-8859-1'")
        .replace(" 价", "");
    let latin: Vec<u8> = latin.chars().map(|char| char as u8).collect();
    assert_eq!(document_of(&archive(&[("word/document.xml", &latin)])).text(), "größer");
    problem(
        patient(),
        "a.docx",
        &archive(&[("word/document.xml", b"<a>\xff</a>")]),
        Broken,
        "not in the encoding",
    );
}

#[test]
fn text_that_was_moved_or_deleted_is_not_shown_and_readings_are_left_out() {
    let run = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let moved = format!(
        "<w:p><w:pPr><w:rPr><w:moveFrom w:id=\"1\"/></w:rPr></w:pPr><w:moveFrom>{}</w:moveFrom>{}<w:moveTo>{}</w:moveTo>\
         <w:del>{}</w:del></w:p>",
        run("from"),
        run("stay "),
        run("to"),
        run("deleted")
    );
    check(&moved, "stay to");
    let ruby = format!(
        "<w:p><w:r><w:ruby><w:rubyPr/><w:rt>{}</w:rt><w:rubyBase>{}</w:rubyBase></w:ruby></w:r>{}</w:p>",
        run("とうきょう"),
        run("東京"),
        run("駅")
    );
    check(&ruby, "東京駅");
}

#[test]
fn files_in_a_document_are_read() {
    let body = "<w:body><w:p><w:r><w:t>before</w:t></w:r></w:p><w:altChunk r:id=\"aFChunk\"/><w:p><w:r><w:t>after</w:t></w:r></w:p></w:body>";
    let document = part("document", body);
    let mail = "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=\"b\"\n\n--b\nContent-Type: text/html; charset=\"utf-8\"\n\n\
                <html><body><h1>Hi</h1><p>ALL THE TEXT</p></body></html>\n--b--";
    for (target, content, expected) in [
        ("/word/afchunk.mht", mail, "before\n\nHi\n\nALL THE TEXT\n\nafter"),
        ("chunk.html", "<p>a</p><p>ü</p>", "before\n\na\n\nü\n\nafter"),
        ("chunk.txt", "plain", "before\n\nplain\n\nafter"),
        ("chunk.rtf", "{\\rtf1}", "before\n\nafter"),
    ] {
        let name = format!("word/{}", target.rsplit('/').next().unwrap());
        let own = relations(&[("aFChunk", target)]);
        let file = archive(&[
            ("word/document.xml", document.as_bytes()),
            ("word/_rels/document.xml.rels", own.as_bytes()),
            (&name, content.as_bytes()),
        ]);
        let found = read("a.docx", &file);
        assert_eq!(found.documents[0].text(), expected);
        let warnings: String = found.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.contains("\"rtf\""), target.ends_with("rtf"), "{warnings}");
    }
    let found = read(
        "a.docx",
        &word("<w:altChunk r:id=\"missing\"/><w:p><w:r><w:t>x</w:t></w:r></w:p>"),
    );
    assert!(found.warnings[0].message().contains("missing"), "{:?}", found.warnings);
}

#[test]
fn tables_have_their_names_captions_and_merged_cells() {
    let cell = |properties: &str, text: &str| format!("<w:tc><w:tcPr>{properties}</w:tcPr>{}</w:tc>", paragraph(text));
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let one = format!(
        "<w:tbl>{}</w:tbl>",
        row(&[cell("", "Skills"), cell("", "Rust, SQL, Kubernetes")])
    );
    check(&one, "Skills\n\nRust, SQL, Kubernetes");
    let (start, more, wide) = (
        "<w:vMerge w:val=\"restart\"/>",
        "<w:vMerge/>",
        "<w:gridSpan w:val=\"2\"/>",
    );
    let body = format!(
        "<w:tbl>{}{}{}{}{}</w:tbl>",
        row(&[cell("<w:gridSpan w:val=\"3\"/>", "Rain")]),
        row(&[cell(start, "City"), cell(wide, "2026")]),
        row(&[cell(more, ""), cell("", "May"), cell("", "June")]),
        row(&[cell(start, "Ulm"), cell("", "1"), cell("", "2")]),
        row(&[cell(more, ""), cell(wide, "3")]),
    );
    let table = read("a.docx", &word(&body)).tables.remove(0);
    assert_eq!(table.caption.as_deref(), Some("Rain"));
    assert_eq!(table.columns, ["City", "2026 May", "2026 June"]);
    assert_eq!(
        table.rows,
        [
            [json!("Ulm"), json!("1"), json!("2")],
            [json!("Ulm"), json!("3"), Value::Null]
        ]
    );
}
