//! Notes: texts and Markdown with front matter, as in a wiki.

use agcore_chat::{Actor, SourcePosition};
use agcore_files::{FileKind, FilePreprocessor, OriginFile, decode_text};
use agcore_memory::knowledge::{KnowledgePage, markdown};

use super::{
    passages::{self, Part, line_breaks},
    rows,
};

/// The longest note that stays one part, in characters. Longer ones are cut at their headings and paragraphs.
const LONGEST: usize = 4000;

/// A note that was read.
#[derive(Debug)]
pub(crate) struct Note {
    /// The page with the members of its front matter. Its content is that of the whole note.
    pub(crate) page: KnowledgePage,
    /// The parts of a long note; none of a short one.
    pub(crate) parts: Vec<Part>,
    /// The place of the whole note.
    pub(crate) position: SourcePosition,
}

/// Reads a note. `id` is the id of its page, unless its front matter has one.
///
/// # Errors
/// The reason why the note cannot be read.
pub(crate) async fn read(
    preprocessor: &dyn FilePreprocessor,
    name: &str,
    id: &str,
    content: &[u8],
) -> Result<Note, String> {
    let text = decode_text(content, "text/markdown");
    let page = markdown::from_markdown(id, &text, &Actor::local()).map_err(|error| error.to_string())?;
    // The text of a page is the end of its file.
    let before = text.len().saturating_sub(page.content.len());
    let front = text
        .get(..before)
        .filter(|_| text.ends_with(&page.content))
        .unwrap_or_default();
    let lines_before = u32::try_from(front.matches('\n').count()).unwrap_or(u32::MAX);
    let first = lines_before.saturating_add(1);
    let position = SourcePosition::new().with_lines(first, first.saturating_add(line_breaks(&page.content)));
    let parts = match page.content.chars().nth(LONGEST) {
        None => Vec::new(),
        Some(_) => split(preprocessor, name, &page, lines_before).await?,
    };
    Ok(Note { page, parts, position })
}

/// Cuts a long note. A long table becomes parts of its own as well, whose rows have the names of the columns.
async fn split(
    preprocessor: &dyn FilePreprocessor,
    name: &str,
    page: &KnowledgePage,
    lines_before: u32,
) -> Result<Vec<Part>, String> {
    let file = OriginFile::new(name).with_kind(FileKind::Markdown);
    let found = preprocessor.preprocess(&file, page.content.clone().into_bytes()).await;
    let found = found.map_err(|problem| problem.message().to_owned())?;
    let documents = found.documents.iter();
    let mut parts: Vec<Part> = documents
        .flat_map(|document| passages::parts(document, &page.title, lines_before))
        .collect();
    let long = found.tables.iter().filter(|table| table.rows.len() > rows::ROWS);
    parts.extend(long.flat_map(|table| rows::parts(table, &page.title)));
    Ok(parts)
}
