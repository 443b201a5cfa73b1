//! Pages of PDF files, documents and tables.

use std::{path::Path, sync::Arc};

use agcore::{
    files::{Document, FileKind, FilePreprocessor, OriginFile, Passage, StandardPreprocessor, Table},
    llm::SystemClock,
    memory::knowledge::KnowledgePage,
};

use crate::{command::database::shown, exit::Failure};

/// The number of rows of a table in a page.
const ROWS: usize = 50;

/// Returns whether a file is cut into passages, by the end of its name. Everything else is Markdown.
pub(super) fn is_document(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let end = end.to_ascii_lowercase();
    ["pdf", "docx", "xlsx", "html", "htm", "csv", "tsv", "json"].contains(&end.as_str())
}

/// Reads a file. Each passage becomes a page, as do the rows of a table, 50 at a time. Their ids begin with `id`, and their summaries
/// have the file and the position. What could not be read of the file is added to the warnings.
///
/// # Errors
/// When the file cannot be read, is broken or too large, or contains no text.
pub(super) async fn pages(
    path: &Path,
    id: &str,
    title: Option<&str>,
    warnings: &mut Vec<String>,
) -> Result<Vec<KnowledgePage>, Failure> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let failed = |reason: String| Failure::usage(format!("cannot read {}: {reason}", shown(path)));
    let preprocessor = StandardPreprocessor::new(Arc::new(SystemClock::new()));
    let size = tokio::fs::metadata(path)
        .await
        .map_err(|error| failed(error.to_string()))?
        .len();
    let limit = preprocessor.max_bytes();
    if usize::try_from(size).is_ok_and(|size| size > limit) {
        return Err(failed(format!("it is larger than {limit} bytes")));
    }
    let content = tokio::fs::read(path).await.map_err(|error| failed(error.to_string()))?;
    let found = preprocessor.preprocess(&OriginFile::new(name.as_str()), content).await;
    let found = found.map_err(|problem| Failure::usage(problem.to_string()))?;
    warnings.extend(found.warnings.iter().map(ToString::to_string));
    let mut pages = Vec::new();
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
    for table in &found.tables {
        pages.extend(parts(table, title.unwrap_or(&name)));
    }
    if pages.is_empty() {
        return Err(failed(
            "it contains no text; convert pictures of text with a program that recognizes it".to_owned(),
        ));
    }
    let page = |(number, (title, summary, content)): (usize, (String, String, String))| {
        let mut page = KnowledgePage::new(format!("{id}/{:04}", number + 1), title, content);
        page.summary = summary;
        page
    };
    let pages: Vec<KnowledgePage> = pages.into_iter().enumerate().map(page).collect();
    pages.iter().try_for_each(KnowledgePage::check)?;
    Ok(pages)
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

/// Returns title, position and text of the parts of a table.
fn parts(table: &Table, title: &str) -> Vec<(String, String, String)> {
    let title = match &table.sheet {
        Some(sheet) => format!("{title}: {sheet}"),
        None => title.to_owned(),
    };
    let rows = table.rows.chunks(ROWS).enumerate();
    let parts = rows.map(|(part, rows)| {
        let first = part * ROWS + 1;
        let part = Table::new(table.name.as_str(), table.columns.clone(), rows.to_vec());
        let last = first + rows.len() - 1;
        let position = match &table.sheet {
            Some(sheet) => format!("{}, sheet {sheet}, rows {first} to {last}", table.name),
            None => format!("{}, rows {first} to {last}", table.name),
        };
        (title.clone(), position, part.to_markdown())
    });
    parts.collect()
}
