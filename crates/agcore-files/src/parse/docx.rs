//! Word documents: paragraphs below headings, and tables.

mod body;
mod styles;
mod xml;

use self::{body::Body, styles::Styles};
use crate::{
    archive::Archive, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem, work::Work,
};

/// The parts with text, in the order in which they are read.
const PARTS: [&str; 2] = ["word/footnotes.xml", "word/endnotes.xml"];

/// Reads a document with its footnotes and endnotes. Headers, footers and comments are not part of the text.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let mut archive = Archive::open(work)?;
    let Some(document) = archive.text("word/document.xml")? else {
        return Err(work.broken("it is a ZIP archive, but not a Word document"));
    };
    let styles = match archive.text("word/styles.xml")? {
        Some(text) => Styles::read(work, &text)?,
        None => Styles::default(),
    };
    let mut outline = Outline::extracted(work);
    if let Some(properties) = archive.text("docProps/core.xml")? {
        outline.set_title(&xml::text_of(work, &properties, "title")?);
    }
    let mut body = Body::new(work, outline, &styles);
    body.read(&document)?;
    for part in PARTS {
        if let Some(text) = archive.text(part)? {
            body.read(&text)?;
        }
    }
    let (outline, tables) = body.finish();
    let documents = if outline.is_empty() && !tables.is_empty() {
        Vec::new()
    } else {
        vec![outline.into_document(FileKind::Docx)?]
    };
    Ok(Preprocessed {
        documents,
        tables,
        ..Preprocessed::new()
    })
}
