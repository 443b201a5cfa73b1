//! Pages of PDF files, documents, tables and long notes.

use std::{path::Path, sync::Arc};

use agcore::{
    files::{Document, FileKind, FilePreprocessor, OriginFile, Passage, Preprocessed, StandardPreprocessor},
    llm::SystemClock,
    memory::knowledge::KnowledgePage,
};

use super::table_pages::parts;
use crate::{command::stored::database::shown, exit::Failure};

/// The longest note that stays one page, in characters. Longer ones are cut at their headings and paragraphs.
const LONGEST: usize = 4000;

/// The content of a file.
pub(super) enum Content {
    /// A text, which may be Markdown.
    Note(String),
    /// Pages, and warnings about missing parts.
    Pages(Vec<KnowledgePage>, Vec<String>),
}

/// Reads a file. Each passage becomes a page, as do the rows of a table, 50 at a time. Their ids begin with `id`, and their
/// summaries have the file and the position. Markdown and plain texts are returned as they are.
///
/// # Errors
/// When the file cannot be read, is broken or too large, or contains no text.
pub(super) async fn read(path: &Path, id: &str, title: Option<&str>) -> Result<Content, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |reason: String| Failure::usage(format!("cannot read {}: {reason}", shown(path)));
    let preprocessor = preprocessor();
    let size = tokio::fs::metadata(path)
        .await
        .map_err(|error| failed(error.to_string()))?
        .len();
    let limit = preprocessor.max_bytes();
    if usize::try_from(size).is_ok_and(|size| size > limit) {
        return Err(failed(format!("it is larger than {limit} bytes")));
    }
    let content = tokio::fs::read(path).await.map_err(|error| failed(error.to_string()))?;
    let kind = FileKind::detect(&name, &content);
    if matches!(kind, FileKind::Markdown | FileKind::Text) {
        return Ok(Content::Note(agcore::files::decode_text(&content, "text/markdown")));
    }
    let found = preprocessor.preprocess(&OriginFile::new(name.as_str()), content).await;
    let found = found.map_err(|problem| Failure::usage(problem.to_string()))?;
    let mut pages: Vec<(String, String, String)> = Vec::new();
    for document in &found.documents {
        let title = title.or(document.title.as_deref()).unwrap_or(&name);
        pages.extend(document.passages.iter().map(|passage| {
            (
                heading(title, passage),
                position(document, passage),
                passage.text.clone(),
            )
        }));
    }
    let own_title = found.documents.first().and_then(|document| document.title.as_deref());
    for table in &found.tables {
        pages.extend(parts(table, title.or(own_title).unwrap_or(&name)));
    }
    if pages.is_empty() {
        return Err(failed(without_text(&found)));
    }
    let page = |(number, (title, summary, content)): (usize, (String, String, String))| {
        let mut page = KnowledgePage::new(part_id(id, number), title, content);
        page.summary = summary;
        page
    };
    let pages: Vec<KnowledgePage> = pages.into_iter().enumerate().map(page).collect();
    pages.iter().try_for_each(KnowledgePage::check)?;
    let warnings = found.warnings.iter().map(ToString::to_string);
    Ok(Content::Pages(pages, warnings.collect()))
}

/// Cuts a note that is too long for one page into passages below its headings; `None` if it is not. The parts have its tags and
/// references.
///
/// # Errors
/// When the note has too many parts.
pub(super) async fn split(note: &KnowledgePage, name: &str) -> Result<Option<Vec<KnowledgePage>>, Failure> {
    if note.content.chars().nth(LONGEST).is_none() {
        return Ok(None);
    }
    let file = OriginFile::new(name).with_kind(FileKind::Markdown);
    let found = preprocessor()
        .preprocess(&file, note.content.clone().into_bytes())
        .await;
    let found = found.map_err(|problem| Failure::usage(problem.to_string()))?;
    let passages = found.documents.iter().flat_map(|document| &document.passages);
    let page = |(number, passage): (usize, &Passage)| {
        let mut page = note.clone();
        page.id = part_id(&note.id, number);
        page.title = heading(&note.title, passage);
        page.summary = match passage.position.line {
            Some(line) => format!("{name}, line {line} of the text"),
            None => name.to_owned(),
        };
        page.content.clone_from(&passage.text);
        page
    };
    let pages: Vec<KnowledgePage> = passages.enumerate().map(page).collect();
    pages.iter().try_for_each(KnowledgePage::check)?;
    Ok(Some(pages).filter(|pages| pages.len() > 1))
}

/// Returns whether a page is a part of a file, of an earlier version that had more parts.
pub(super) fn is_part(id: &str, summary: &str, of: &str, name: &str) -> bool {
    let number = id.strip_prefix(of).and_then(|rest| rest.strip_prefix('/'));
    let is_numbered =
        number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|byte| byte.is_ascii_digit()));
    is_numbered && summary.strip_prefix(name).is_some_and(|rest| rest.starts_with(", "))
}

fn part_id(id: &str, number: usize) -> String {
    format!("{id}/{:04}", number + 1)
}

fn preprocessor() -> StandardPreprocessor {
    StandardPreprocessor::new(Arc::new(SystemClock::new()))
}

/// Returns why a file without passages and tables has none.
fn without_text(found: &Preprocessed) -> String {
    let kind = found.other_files.iter().find_map(|file| file.media_type.as_deref());
    let advice = "convert pictures of text with a program that recognizes it";
    match kind {
        Some(kind) if kind.starts_with("image/") => format!("it is a picture ({kind}); {advice}"),
        Some(kind) => format!("it is of the kind {kind}, which has no text that can be read"),
        None if found.other_files.is_empty() => format!("it contains no text; {advice}"),
        None => "it is not a text, and of no kind that can be read".to_owned(),
    }
}

fn heading(title: &str, passage: &Passage) -> String {
    match passage.position.headings.last() {
        Some(heading) if heading != title => format!("{title}: {heading}"),
        _ => title.to_owned(),
    }
}

/// Describes where a passage is.
fn position(document: &Document, passage: &Passage) -> String {
    let name = &document.name;
    let at = &passage.position;
    // The lines of formats that are not texts are not shown to people.
    let has_lines = !matches!(document.kind, FileKind::Pdf | FileKind::Docx);
    match (at.page, at.line.filter(|_| has_lines)) {
        (Some(page), _) => format!("{name}, page {page}"),
        (None, Some(line)) => format!("{name}, line {line}"),
        (None, None) => format!("{name}, characters {} to {}", at.start + 1, at.end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_file_are_known_by_their_number_and_summary() {
        assert!(is_part("log/0002", "log.pdf, page 2", "log", "log.pdf"));
        for (id, summary) in [
            ("log/2026", "What happened"),
            ("log/2026", "log.pdfx, page 2"),
            ("log/1", "log.pdf, page 2"),
            ("log/0001/x", "log.pdf, page 2"),
            ("log", "log.pdf, page 2"),
            ("logs/0001", "log.pdf, page 2"),
        ] {
            assert!(!is_part(id, summary, "log", "log.pdf"), "{id}");
        }
    }
}
