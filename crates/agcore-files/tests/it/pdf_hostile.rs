//! PDF files that are made to exhaust memory or time, and damaged content and fonts.

use agcore_files::{
    FileProblemKind::{Incomplete, LimitExceeded},
    Limits,
};

use crate::{
    mutations::{cases, check},
    support::{patient, pdf, pdf_file, pdf_stream, pdf_with_font, problem, read},
};

const HELVETICA: &[u8] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/// Limits that a small file exceeds.
fn small() -> Limits {
    patient().with_unpacked_bytes(1 << 20)
}

#[test]
fn codes_with_long_texts_are_limited() {
    // Each of 5,000 codes is 500 characters.
    let table = format!("1 beginbfchar <41> <{}> endbfchar", "0042".repeat(500));
    let font = b"<< /Type /Font /Subtype /TrueType /BaseFont /X /ToUnicode 6 0 R >>";
    let file = |codes: usize| {
        let content = format!("BT /F1 10 Tf ({}) Tj ET", "A".repeat(codes));
        pdf_with_font(&content, &[font, &pdf_stream("", table.as_bytes())])
    };
    problem(
        small(),
        "a.pdf",
        &file(5_000),
        LimitExceeded,
        "larger than 1048576 bytes",
    );
    assert!(read("a.pdf", &file(50)).warnings.is_empty());
}

#[test]
fn forms_that_contain_themselves_are_limited() {
    let page = "/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >>";
    let form = |content: &str| {
        let resources = "/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >>";
        pdf_stream(&format!("/Subtype /Form {resources}"), content.as_bytes())
    };
    let file = |content: &str| pdf_file(b"BT /F1 9 Tf (x) Tj ET /X Do", "", page, &[HELVETICA, &form(content)]);
    let found = read("a.pdf", &file("/X Do"));
    assert_eq!(found.documents[0].text(), "x");
    assert!(
        matches!(found.warnings.as_slice(), [warning] if warning.kind() == Incomplete),
        "{:?}",
        found.warnings
    );
    // Ten times at each of twelve levels.
    problem(
        small(),
        "a.pdf",
        &file(&"/X Do ".repeat(10)),
        LimitExceeded,
        "after decompression",
    );
}

#[test]
fn numbers_of_any_size_are_places() {
    for numbers in [
        "1e38 0 0 1e38 1e38 1e38",
        "0 0 0 0 0 0",
        "-1 0 0 -1 0 0",
        "99999999999999999999 0 0 1 -99999999999999999999 0",
        "1 2 (a) 4 5 6",
    ] {
        for size in ["0", "-12", "1e38", "0.0000000000001", "(a)"] {
            for spacing in ["0 Tc 0 Tz", "1e38 Tc", "-1e38 Tw -50 Tz"] {
                let content = format!(
                    "{numbers} cm BT /F1 {size} Tf {spacing} {numbers} Tm (ab) Tj [(c) 1e38 (d) -1e38 (e)] TJ 1e38 -1e38 Td \
                     (f) ' 1e38 1e38 (g) \" ET"
                );
                check("a.pdf", &pdf(content.as_bytes(), ""), &content);
            }
        }
    }
}

/// The operators of texts, and operands of all kinds.
const WORDS: &[&str] = &[
    "BT",
    "ET",
    "q",
    "Q",
    "cm",
    "Tf",
    "Tj",
    "TJ",
    "'",
    "\"",
    "Td",
    "TD",
    "Tm",
    "T*",
    "Tc",
    "Tw",
    "Tz",
    "TL",
    "Tr",
    "Ts",
    "Do",
    "BI",
    "ID",
    "EI",
    "/F1",
    "/F2",
    "/X",
    "(ab)",
    "(\\777\\0(x))",
    "<0041>",
    "<4",
    "[",
    "]",
    "<<",
    ">>",
    "0",
    "1",
    "12",
    "-0.5",
    "700",
    "1e9",
    "true",
    "null",
    "%",
];

#[test]
fn contents_of_any_words_end_with_a_result_or_a_problem() {
    let page = "/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >>";
    for seed in 0..cases(400, 40_000) as u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut words = |count: usize| -> String {
            let words = (0..count).filter_map(|_| random.choice(WORDS));
            words.map(|word| format!("{word} ")).collect()
        };
        let (content, form) = (words(60), words(20));
        let form = pdf_stream("/Subtype /Form /Matrix [2 0 0 2 0 0]", form.as_bytes());
        let content = format!("BT /F1 10 Tf 10 10 Td (start) Tj {content}");
        let file = pdf_file(content.as_bytes(), "", page, &[HELVETICA, &form]);
        check("a.pdf", &file, &format!("seed {seed}: {content}"));
    }
}

#[test]
fn damaged_parts_of_fonts_end_with_a_result_or_a_problem() {
    let table = "1 begincodespacerange <00> <FF> endcodespacerange 2 beginbfchar <41> <0042> <42> <D83DDE00> endbfchar \
                 1 beginbfrange <50> <60> <0061> <61> <63> [<0061> <0062>] endbfrange /X usecmap";
    let font = "<< /Type /Font /Subtype /Type1 /BaseFont /X /FirstChar 60 /Widths [300 -5 700] /ToUnicode 6 0 R /FontDescriptor \
                7 0 R /Encoding << /BaseEncoding /MacRomanEncoding /Differences [65 /a /uni0041 /g12 300 /x] >> >>";
    let descriptor = "<< /FontFile 8 0 R /Flags 4 /MissingWidth 500 >>";
    let program = "%! /Encoding 256 array dup 65 /A put dup 66/uni0042 put readonly def eexec";
    for seed in 0..cases(200, 20_000) as u64 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut damaged = |text: &str| -> Vec<u8> {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..random.usize(0..6) {
                let position = random.usize(..bytes.len());
                match random.u8(..3) {
                    0 => bytes[position] = *random.choice(b"<>[]()/ 09Aa%\0\xff").unwrap(),
                    1 => drop(bytes.drain(position..(position + random.usize(..9)).min(bytes.len()))),
                    _ => bytes.insert(position, random.u8(..)),
                }
            }
            bytes
        };
        let objects = [
            damaged(font),
            pdf_stream("", &damaged(table)),
            damaged(descriptor),
            pdf_stream("", &damaged(program)),
        ];
        let objects: Vec<&[u8]> = objects.iter().map(Vec::as_slice).collect();
        let file = pdf_with_font("BT /F1 10 Tf (ABCPQabc) Tj [(A) -500 (B)] TJ ET", &objects);
        check("a.pdf", &file, &format!("seed {seed}"));
    }
}
