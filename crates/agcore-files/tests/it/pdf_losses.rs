//! Text of PDF files that cannot be read: it is reported, and never left out without a word.

use std::io::Write;

use agcore_files::{
    FileProblem,
    FileProblemKind::{Incomplete, LimitExceeded, Unsupported},
};

use crate::support::{patient, pdf, pdf_file, pdf_stream, pdf_with_font, problem, read, read_with};

const UNKNOWN: &str = "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [7 0 R] >>";

/// Returns a file with text in Helvetica, and text in a font that does not say what its characters are.
fn partly_unknown() -> Vec<u8> {
    let page = "/Resources << /Font << /F1 5 0 R /F2 6 0 R >> >>";
    let content = b"BT /F1 10 Tf 50 700 Td (known) Tj /F2 10 Tf 0 -12 Td <00010002> Tj ET";
    let descendant = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X >>";
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    pdf_file(content, "", page, &[font, UNKNOWN.as_bytes(), descendant])
}

#[test]
fn unknown_characters_are_shown_and_reported() {
    let found = read("a.pdf", &partly_unknown());
    assert_eq!(found.documents[0].text(), "known\n\u{fffd}");
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    let warning = &found.warnings[0];
    assert_eq!((warning.kind(), warning.file()), (Incomplete, "a.pdf"));
    assert!(
        warning.message().contains("2 of its 7 characters are (page 1)"),
        "{warning}"
    );
    assert!(
        warning
            .to_string()
            .starts_with("a part of \"a.pdf\" was not read: its fonts"),
        "{warning}"
    );
    assert!(read("a.pdf", &pdf(b"BT /F1 9 Tf (x) Tj ET", "")).warnings.is_empty());
}

#[test]
fn files_without_known_characters_are_refused() {
    for font in [
        "/Subtype /Type0 /Encoding /Identity-H /DescendantFonts [6 0 R]",
        "/Subtype /Type0 /Encoding /CNS-EUC-H /DescendantFonts [6 0 R]",
        "/Subtype /Type0 /Encoding /Identity-H",
        "/Subtype /Type3 /Encoding << /Differences [0 /g1 /g2 /g3 /g4 /g5] >>",
    ] {
        let font = format!("<< /Type /Font /BaseFont /X {font} >>");
        let file = pdf_with_font(
            "BT /F1 10 Tf <00010002> Tj ET",
            &[font.as_bytes(), b"<< /Type /Font >>"],
        );
        problem(patient(), "a.pdf", &file, Unsupported, "do not say which characters");
    }
}

#[test]
fn damaged_content_is_reported() {
    let found = read("a.pdf", &pdf(b"BT /F1 9 Tf (before) Tj ET BT (after", ""));
    assert_eq!(found.documents[0].text(), "before");
    let messages: Vec<&str> = found.warnings.iter().map(FileProblem::message).collect();
    assert!(
        matches!(messages.as_slice(), [message] if message.contains("damaged") && message.contains("(page 1)")),
        "{messages:?}"
    );
}

/// Returns the messages of the warnings about a file.
fn warnings(file: &[u8]) -> Vec<String> {
    let found = read("a.pdf", file);
    found
        .warnings
        .iter()
        .map(|warning| warning.message().to_owned())
        .collect()
}

#[track_caller]
fn check_warning(file: &[u8], parts: &[&str]) {
    let messages = warnings(file);
    let [message] = messages.as_slice() else {
        panic!("{messages:?}");
    };
    for part in parts {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn content_that_ends_within_a_text_is_reported() {
    check_warning(&pdf(b"BT /F1 9 Tf (before) Tj", ""), &["damaged", "(page 1)"]);
    assert_eq!(warnings(&pdf(b"BT /F1 9 Tf (x) Tj ET q", "")), [""; 0]);
    // A part of the content that is not in the file.
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    let content = b"BT /F1 9 Tf (x) Tj ET";
    let parts = |second| pdf_file(content, "", &format!("/Contents [4 0 R {second} 0 R]"), &[font]);
    check_warning(&parts(99), &["damaged", "(page 1)"]);
    assert_eq!(warnings(&parts(4)), [""; 0]);
}

#[test]
fn characters_that_cannot_be_seen_are_unknown() {
    let font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>";
    let descendant = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X >>";
    let table = pdf_stream(
        "",
        b"4 beginbfchar <0001> <0041> <0002> <0093> <0003> <0001> <0004> <00AD> endbfchar",
    );
    let file = pdf_with_font(
        "BT /F1 10 Tf <00010002> Tj 0 -12 Td <00030001> Tj 0 -12 Td <000100040001> Tj ET",
        &[font, descendant, &table],
    );
    assert_eq!(read("a.pdf", &file).documents[0].text(), "A\u{fffd}\n\u{fffd}A\nA-A");
    check_warning(&file, &["2 of its 7 characters are (page 1)"]);
}

#[test]
fn invisible_texts_are_read_and_reported() {
    for mode in [3, 7] {
        let content = format!("q {mode} Tr BT /F1 10 Tf (scanned) Tj ET Q BT /F1 10 Tf 0 -50 Td (p. 1) Tj ET");
        let file = pdf(content.as_bytes(), "");
        assert_eq!(read("a.pdf", &file).documents[0].text(), "scanned\n\np. 1");
        check_warning(&file, &["its text is invisible (page 1)"]);
    }
    // Most of the text is visible.
    let content = b"BT /F1 10 Tf 3 Tr (x   ) Tj 0 Tr (visible) Tj ET";
    assert_eq!(warnings(&pdf(content, "")), [""; 0]);
    assert_eq!(warnings(&pdf(b"BT /F1 10 Tf 1 Tr (x) Tj ET", "")), [""; 0]);
}

/// Returns a file with a form in a form, and so on.
fn nested(depth: usize) -> Vec<u8> {
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_vec();
    let form = |number: usize| {
        let content = match number {
            0 => "BT /F1 10 Tf (deep) Tj ET".to_owned(),
            _ => "/X Do".to_owned(),
        };
        let next = 5 + depth - number + 2;
        let resources = format!("/Resources << /Font << /F1 5 0 R >> /XObject << /X {next} 0 R >> >>");
        pdf_stream(
            &format!("/Type /XObject /Subtype /Form {resources}"),
            content.as_bytes(),
        )
    };
    let forms = (0..=depth).rev().map(form);
    let objects: Vec<Vec<u8>> = std::iter::once(font).chain(forms).collect();
    let page = "/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >>";
    let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
    pdf_file(b"BT /F1 10 Tf (top) Tj ET /X Do", "", page, &objects)
}

#[test]
fn forms_in_too_many_forms_are_reported() {
    let found = read("a.pdf", &nested(11));
    assert_eq!(found.documents[0].text(), "top deep");
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    check_warning(&nested(12), &["more than 12 others", "(page 1)"]);
}

#[test]
fn missing_pages_are_reported() {
    let file = pdf(b"BT /F1 9 Tf (x) Tj ET", "");
    let text = String::from_utf8(file).unwrap();
    let file = text.replace("/Kids [3 0 R] /Count 1", "/Kids [3 0 R] /Count 7");
    check_warning(file.as_bytes(), &["only 1 of its 7 pages"]);
}

fn deflated(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn large_tables_of_fonts_are_not_kept() {
    let font = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>";
    let descendant = b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X >>";
    let entries: String = (0..20_000).map(|code| format!("<{code:04X}><0041>")).collect();
    let table = pdf_stream(
        "/Filter /FlateDecode",
        &deflated(&format!("1 beginbfchar {entries} endbfchar")),
    );
    let file = pdf_with_font("BT /F1 10 Tf <0001> Tj ET", &[font, descendant, &table]);
    assert_eq!(read("a.pdf", &file).documents[0].text(), "A");
    problem(
        patient().with_cells(15_000),
        "a.pdf",
        &file,
        Unsupported,
        "do not say which characters",
    );
    // Ranges are not expanded.
    let ranges = "<00000000> <FFFFFFFF> <0041> ".repeat(1_000);
    let table = pdf_stream(
        "/Filter /FlateDecode",
        &deflated(&format!("1 beginbfrange {ranges} endbfrange")),
    );
    let file = pdf_with_font("BT /F1 10 Tf <0000> Tj ET", &[font, descendant, &table]);
    assert!(read_with(patient().with_cells(10_000), "a.pdf", &file).is_ok());
}

#[test]
fn values_of_form_fields_are_limited() {
    let field = format!("<< /Subtype /Widget /FT /Tx /V ({}) >>", "x".repeat(3_000));
    let fields = format!("/Annots [{}]", format!("{field} ").repeat(3));
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";
    let file = pdf_file(b"BT /F1 10 Tf (x) Tj ET", "", &fields, &[font]);
    assert!(read_with(patient(), "a.pdf", &file).is_ok());
    problem(
        patient().with_unpacked_bytes(8_000),
        "a.pdf",
        &file,
        LimitExceeded,
        "after decompression",
    );
}
