//! Kinds of files.

use agcore_files::FileKind;

use crate::support::{archive, patient, problem, read, sample};

#[track_caller]
fn check(name: &str, content: &[u8], expected: FileKind) {
    assert_eq!(FileKind::detect(name, content), expected, "{name}");
}

#[test]
fn the_content_of_binary_files_decides() {
    check("x.txt", &sample("report.pdf"), FileKind::Pdf);
    check("x", &sample("garden.docx"), FileKind::Docx);
    check("x.docx", &sample("harvest.xlsx"), FileKind::Xlsx);
    check("x.docx", &archive(&[("a", b"b")]), FileKind::Docx);
    check("x.zip", &archive(&[("a", b"b")]), FileKind::Other);
    check("x.txt", &archive(&[("a", b"b")]), FileKind::Other);
    check("x.txt", b"a\0b", FileKind::Other);
    check("x.md", b"\xff\xd8\xff\xe0\0\x10JFIF\0", FileKind::Other);
    check("scan.pdf", b"junk before %PDF-1.4", FileKind::Pdf);
    check("notes.txt", b"A file starts with %PDF-1.4", FileKind::Text);
}

#[test]
fn the_name_distinguishes_texts() {
    check("a.MD", b"x", FileKind::Markdown);
    check("a.csv", b"{}", FileKind::Csv);
    check("a.tsv", b"a", FileKind::Tsv);
    check("a.htm", b"x", FileKind::Html);
    check("a.txt", b"<html>", FileKind::Text);
    check("a.b/c", b"x", FileKind::Text);
    check("noname", b"  {\"a\": 1}", FileKind::Json);
    check("noname", b"{a}", FileKind::Text);
    check("noname", b"\n<HTML lang=en>", FileKind::Html);
    check("noname", b"", FileKind::Text);
    check("noname", b"\xff\xfea\0", FileKind::Text);
}

#[test]
fn files_without_text_are_listed() {
    let found = read("photo.bin", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR");
    assert!(found.documents.is_empty() && found.tables.is_empty());
    let other = &found.other_files[0];
    assert_eq!(
        (other.media_type.as_deref(), other.bytes),
        (Some("image/png"), Some(16))
    );
    assert_eq!(other.problem, None);
}

#[test]
fn files_that_are_not_what_they_are_called_are_refused() {
    use agcore_files::FileProblemKind::{Broken, Encrypted};
    problem(patient(), "a.pdf", b"hello", Broken, "not a complete PDF");
    problem(patient(), "a.docx", b"hello", Broken, "not a complete ZIP");
    problem(
        patient(),
        "a.xlsx",
        &sample("garden.docx")[..2000],
        Broken,
        "not a complete ZIP",
    );
    problem(
        patient(),
        "a.docx",
        &archive(&[("a", b"b")]),
        Broken,
        "not a Word document",
    );
    problem(
        patient(),
        "a.xlsx",
        &archive(&[("a", b"b")]),
        Broken,
        "not a complete Excel workbook",
    );
    problem(
        patient(),
        "a.doc.docx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        Encrypted,
        "password or in an older format",
    );
}

#[test]
fn main_parts_may_have_other_names() {
    check("x", &archive(&[("word/document2.xml", b"a")]), FileKind::Docx);
    check("x", &archive(&[("word\\document.xml", b"a")]), FileKind::Docx);
    check("x", &archive(&[("xl\\workbook.xml", b"a")]), FileKind::Xlsx);
}

#[test]
fn texts_are_known_without_a_mark_and_under_the_names_of_other_programs() {
    let little: Vec<u8> = "name;Ort\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    check("a.csv", &little, FileKind::Csv);
    check("a.xls", b"<html xmlns:x=\"urn:x\"><table>", FileKind::Html);
    check("a.XLS", b"\xef\xbb\xbf<!-- x -->\n<table><tr>", FileKind::Html);
    check("a.xls", b"a\tb\n1\t2\n", FileKind::Csv);
    check("a.xls", b"\xff\xfea\0\t\0b\0", FileKind::Csv);
    check("a.xhtml", b"<p>", FileKind::Html);
    check("noname", b"<?xml version='1.0'?><!DOCTYPE html><html>", FileKind::Html);
    check("a.bin", b"a\0\x01\0", FileKind::Other);
}

#[test]
fn older_formats_are_named() {
    use agcore_files::FileProblemKind::Unsupported;
    let container = |name: &str| {
        let mut content = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
        content.extend(name.encode_utf16().flat_map(u16::to_le_bytes));
        content
    };
    problem(
        patient(),
        "a.xls",
        &container("Workbook"),
        Unsupported,
        "save it as .xlsx",
    );
    problem(
        patient(),
        "a.doc",
        &container("WordDocument"),
        Unsupported,
        "save it as .docx",
    );
    let encrypted = container("EncryptedPackage");
    problem(
        patient(),
        "a.xlsx",
        &encrypted,
        agcore_files::FileProblemKind::Encrypted,
        "password",
    );
}
