//! Reads files in tests.

use std::{
    fs,
    io::{Cursor, Write},
    path::Path,
    sync::Arc,
    time::Duration,
};

use agcore_chat::SystemClock;
use agcore_files::{
    Document, FilePreprocessor, FileProblem, FileProblemKind, Limits, OriginFile, Preprocessed, StandardPreprocessor,
};
use zip::{ZipWriter, write::SimpleFileOptions};

/// Long enough for every machine: no test waits for it.
const PATIENCE: Duration = Duration::from_secs(600);

/// Returns limits that are the default, but leave slow machines time.
pub(crate) fn patient() -> Limits {
    Limits::new().with_time(PATIENCE)
}

/// Reads a file with limits.
#[track_caller]
pub(crate) fn read_with(limits: Limits, name: &str, content: &[u8]) -> Result<Preprocessed, FileProblem> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new())).with_limits(limits);
    let result = runtime.block_on(preprocessor.preprocess(&OriginFile::new(name), content.to_vec()));
    if let Err(problem) = &result {
        assert_eq!(problem.file(), name);
        assert!(problem.message().starts_with("it"), "{problem}");
    }
    result
}

/// Reads a file that must be readable.
#[track_caller]
pub(crate) fn read(name: &str, content: &[u8]) -> Preprocessed {
    match read_with(patient(), name, content) {
        Ok(found) => found,
        Err(problem) => panic!("{problem}: {:?}", std::error::Error::source(&problem)),
    }
}

/// Reads a file that is one document.
#[track_caller]
pub(crate) fn document(name: &str, content: &[u8]) -> Document {
    let mut found = read(name, content);
    assert_eq!(found.documents.len(), 1, "{found:?}");
    found.documents.remove(0)
}

/// Reads a file that cannot be read, and checks why.
#[track_caller]
pub(crate) fn problem(limits: Limits, name: &str, content: &[u8], kind: FileProblemKind, message: &str) {
    let problem = read_with(limits, name, content).expect_err("the file must be refused");
    assert_eq!(problem.kind(), kind, "{problem}");
    assert!(problem.message().contains(message), "{problem}");
}

/// Returns a sample that another program has made.
pub(crate) fn sample(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/files");
    fs::read(folder.join(name)).unwrap()
}

/// Returns a ZIP archive with these entries.
pub(crate) fn archive(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Returns a Word document with this body.
pub(crate) fn word(body: &str) -> Vec<u8> {
    let namespace = "http://schemas.openxmlformats.org/wordprocessingml/2006/main";
    let document =
        format!("<?xml version=\"1.0\"?><w:document xmlns:w=\"{namespace}\"><w:body>{body}</w:body></w:document>");
    archive(&[("word/document.xml", document.as_bytes())])
}

/// Returns a workbook with one sheet and its shared texts.
pub(crate) fn workbook(sheet: &str, shared: &str) -> Vec<u8> {
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
    let package = "http://schemas.openxmlformats.org/package/2006/relationships";
    let relations = format!(
        "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{office}/worksheet\" \
         Target=\"worksheets/sheet1.xml\"/></Relationships>"
    );
    let workbook = format!(
        "<workbook xmlns=\"{main}\" xmlns:r=\"{office}\"><sheets><sheet name=\"S\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"
    );
    let sheet = format!("<worksheet xmlns=\"{main}\">{sheet}</worksheet>");
    let shared = format!("<sst xmlns=\"{main}\">{shared}</sst>");
    let root = format!(
        "<Relationships xmlns=\"{package}\"><Relationship Id=\"r1\" Type=\"{office}/officeDocument\" \
         Target=\"xl/workbook.xml\"/></Relationships>"
    );
    archive(&[
        ("_rels/.rels", root.as_bytes()),
        ("xl/workbook.xml", workbook.as_bytes()),
        ("xl/_rels/workbook.xml.rels", relations.as_bytes()),
        ("xl/worksheets/sheet1.xml", sheet.as_bytes()),
        ("xl/sharedStrings.xml", shared.as_bytes()),
    ])
}

/// Returns a PDF file whose single page has this content, with these entries in its dictionary.
pub(crate) fn pdf(content: &[u8], filter: &str) -> Vec<u8> {
    let font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";
    pdf_file(content, filter, "", &[font])
}

/// Returns a PDF file whose page has this content in the font F1, the first of these objects, which have the numbers from 5.
pub(crate) fn pdf_with_font(content: &str, objects: &[&[u8]]) -> Vec<u8> {
    pdf_file(content.as_bytes(), "", "", objects)
}

/// Returns a PDF file with one page. `page` has further entries of the page, and the objects have the numbers from 5.
pub(crate) fn pdf_file(content: &[u8], filter: &str, page: &str, objects: &[&[u8]]) -> Vec<u8> {
    let page = format!(
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> {page} >>"
    );
    let stream = pdf_stream(filter, content);
    let mut bodies: Vec<&[u8]> = vec![
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [6 0 R 7 0 R] >> >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        page.as_bytes(),
        &stream,
    ];
    bodies.extend(objects);
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut table = format!("xref\n0 {}\n0000000000 65535 f \n", bodies.len() + 1);
    for (number, body) in (1..).zip(&bodies) {
        table.push_str(&format!("{:010} 00000 n \n", file.len()));
        file.extend_from_slice(format!("{number} 0 obj\n").as_bytes());
        file.extend_from_slice(body);
        file.extend_from_slice(b"\nendobj\n");
    }
    let start = file.len();
    table.push_str(&format!(
        "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n",
        bodies.len() + 1
    ));
    file.extend_from_slice(table.as_bytes());
    file
}

/// Returns a stream with these entries in its dictionary.
pub(crate) fn pdf_stream(entries: &str, content: &[u8]) -> Vec<u8> {
    let mut stream = format!("<< /Length {} {entries} >>\nstream\n", content.len()).into_bytes();
    stream.extend_from_slice(content);
    stream.extend_from_slice(b"\nendstream");
    stream
}
