//! Word documents: paragraphs below headings, and tables.

mod body;
mod chunk;
mod mail;
mod relations;
mod rows;
mod styles;
mod xml;

use self::{body::Body, relations::Relations, styles::Styles};
use crate::{
    archive::Archive, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem, work::Work,
};

/// The kinds of parts with text besides the main one, in the order in which they are read.
const NOTES: [&str; 2] = ["footnotes", "endnotes"];

/// Where most programs put the main part.
const MAIN: &str = "word/document.xml";

/// Reads a document with its footnotes and endnotes. Headers, footers, comments, and the readings of ruby annotations are not part
/// of the text.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let mut archive = Archive::open(work)?;
    let root = Relations::read(&mut archive, "")?;
    let main = root.of_kind("officeDocument").unwrap_or(MAIN).to_owned();
    let (main, document) = match archive.xml(&main)? {
        Some(document) => (main, document),
        None => match archive.xml(MAIN)? {
            Some(document) => (MAIN.to_owned(), document),
            None => return Err(work.broken("it is a ZIP archive, but not a Word document")),
        },
    };
    let relations = Relations::read(&mut archive, &main)?;
    let styles = match archive.xml(&relations.part("styles"))? {
        Some(text) => Styles::read(work, &text)?,
        None => Styles::default(),
    };
    let mut outline = Outline::extracted(work);
    let properties = root.of_kind("core-properties").unwrap_or("docProps/core.xml");
    if let Some(properties) = archive.xml(properties)? {
        outline.set_title(&xml::text_of(work, &properties, "title")?);
    }
    let chunks = chunk::all(&mut archive, &relations)?;
    let mut body = Body::new(work, outline, &styles, &chunks);
    body.read(&document)?;
    for kind in NOTES {
        if let Some(text) = archive.xml(&relations.part(kind))? {
            body.read(&text)?;
        }
    }
    let (outline, tables, warnings) = body.finish();
    let documents = if outline.is_empty() && !tables.is_empty() {
        Vec::new()
    } else {
        vec![outline.into_document(FileKind::Docx)?]
    };
    Ok(Preprocessed {
        documents,
        tables,
        warnings,
        ..Preprocessed::new()
    })
}
