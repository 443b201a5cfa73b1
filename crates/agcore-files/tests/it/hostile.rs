//! Files that are made to exhaust memory.

use std::io::Write;

use agcore_files::{FileProblemKind::LimitExceeded, Limits};

use crate::support::{archive, patient, pdf, problem, read_with};

const ZEROS: &[u8] = &[b' '; 1 << 20];

/// Limits that a small bomb exceeds.
fn small() -> Limits {
    patient().with_unpacked_bytes(4 << 20)
}

fn deflated(content: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..times {
        encoder.write_all(content).unwrap();
    }
    encoder.finish().unwrap()
}

#[test]
fn zip_bombs_are_refused() {
    let bomb: Vec<u8> = ZEROS.repeat(5);
    for (name, entry) in [
        ("a.docx", "word/document.xml"),
        ("a.xlsx", "xl/workbook.xml"),
        ("a.docx", "unused"),
    ] {
        let file = archive(&[(entry, bomb.as_slice())]);
        assert!(file.len() < 20_000, "{}", file.len());
        problem(
            small(),
            name,
            &file,
            LimitExceeded,
            "larger than 4194304 bytes after decompression",
        );
    }
    // Many parts that are small enough on their own.
    let names: Vec<String> = (0..6).map(|number| format!("part{number}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), ZEROS)).collect();
    problem(
        small(),
        "a.docx",
        &archive(&entries),
        LimitExceeded,
        "after decompression",
    );
    let names: Vec<String> = (0..10_001).map(|number| format!("part{number}")).collect();
    let entries: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), b"".as_slice())).collect();
    problem(
        small(),
        "a.docx",
        &archive(&entries),
        LimitExceeded,
        "more than 10000 parts",
    );
}

#[test]
fn streams_of_pdf_files_are_limited() {
    let bomb = deflated(ZEROS, 5);
    problem(
        small(),
        "a.pdf",
        &pdf(&bomb, "/Filter /FlateDecode"),
        LimitExceeded,
        "after decompression",
    );
    // Compressed twice.
    let twice = deflated(&bomb, 1);
    problem(
        small(),
        "a.pdf",
        &pdf(&twice, "/Filter [/FlateDecode /FlateDecode]"),
        LimitExceeded,
        "after decompression",
    );
}

/// Returns a PDF file with streams of objects, which are found without a table.
fn with_object_streams(count: usize, values: usize) -> Vec<u8> {
    let mut file = pdf(b"BT /F1 9 Tf (x) Tj ET", "");
    let start = memchr::memmem::find(&file, b"xref\n").unwrap();
    let mut table = file.split_off(start);
    let objects = deflated(format!("9 0 [{}]", "0 ".repeat(values)).as_bytes(), 1);
    let mut entries = String::new();
    for number in 10..10 + count {
        entries.push_str(&format!("{:010} 00000 n \n", file.len()));
        let length = objects.len();
        let dictionary =
            format!("{number} 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length {length} >>\n");
        file.extend_from_slice(dictionary.as_bytes());
        file.extend_from_slice(b"stream\n");
        file.extend_from_slice(&objects);
        file.extend_from_slice(b"\nendstream\nendobj\n");
    }
    let position = file.len();
    let trailer = memchr::memmem::find(&table, b"trailer").unwrap();
    let tail = format!(
        "10 {count}\n{entries}trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{position}\n%%EOF\n",
        10 + count
    );
    table.truncate(trailer);
    table.extend_from_slice(tail.as_bytes());
    file.extend_from_slice(&table);
    file
}

#[test]
fn values_of_pdf_files_are_limited() {
    let limits = || patient().with_cells(10_000);
    // Two bytes each, and many times that in memory.
    let array = pdf(b"x", &format!("/Junk [{}]", "0 ".repeat(40_001)));
    problem(limits(), "a.pdf", &array, LimitExceeded, "more than 40000 values");
    let streams = with_object_streams(5, 10_000);
    assert!(streams.len() < 3_000, "{}", streams.len());
    problem(limits(), "a.pdf", &streams, LimitExceeded, "more than 40000 values");
    // One that is too large on its own.
    problem(
        patient(),
        "a.pdf",
        &with_object_streams(1, 3_000_000),
        LimitExceeded,
        "larger than 4194304 bytes after decompression",
    );
    assert!(read_with(limits(), "a.pdf", &with_object_streams(2, 100)).is_ok());
}

#[test]
fn many_small_things_are_limited() {
    let headings = "# a\n".repeat(20_001);
    problem(
        patient(),
        "a.md",
        headings.as_bytes(),
        LimitExceeded,
        "more than 20000 passages",
    );
    let cells = format!("<table><tr>{}", "<td>".repeat(10_001));
    problem(
        patient().with_cells(10_000),
        "a.html",
        cells.as_bytes(),
        LimitExceeded,
        "more than 10000 cells",
    );
}

#[test]
fn deep_structures_do_not_overflow_the_stack() {
    for (name, text) in [
        ("a.md", "> ".repeat(50_000)),
        ("a.md", "[".repeat(100_000)),
        ("a.html", "<div><b>".repeat(100_000)),
        ("a.html", "<table><tr><td>".repeat(100_000)),
        ("a.html", "<".repeat(100_000)),
    ] {
        // Any result is fine, as long as there is one.
        let _ = read_with(patient(), name, text.as_bytes());
    }
}
