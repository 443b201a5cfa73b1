//! [`Part`]: a part of a file; the parts of texts.

use agcore_chat::{SourcePosition, TextSpan};
use agcore_files::{Document, FileKind, Passage};

/// A part of a file that is short enough to be found, quoted and cited.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    pub(crate) title: String,
    pub(crate) position: SourcePosition,
    pub(crate) text: String,
}

/// Returns the passages of a document as parts.
pub(super) fn parts(document: &Document, title: &str, lines_before: u32) -> Vec<Part> {
    let part = |passage: &Passage| Part {
        title: match passage.position.headings.last() {
            Some(heading) if heading != title => format!("{title}: {heading}"),
            _ => title.to_owned(),
        },
        position: position(document.kind, passage, lines_before),
        text: passage.text.clone(),
    };
    document.passages.iter().map(part).collect()
}

fn position(kind: FileKind, passage: &Passage, lines_before: u32) -> SourcePosition {
    let at = &passage.position;
    let mut position = SourcePosition::new()
        .with_headings(at.headings.iter().cloned())
        .with_characters(TextSpan::new(at.start, at.end));
    if let Some(page) = at.page {
        position = position.with_page(page);
    }
    // The lines of formats that are not texts are not shown to people.
    let line = at.line.filter(|_| !matches!(kind, FileKind::Pdf | FileKind::Docx));
    if let Some(line) = line {
        let first = line.saturating_add(lines_before);
        // Only these are parts of the file as it is.
        let is_source = matches!(kind, FileKind::Text | FileKind::Markdown | FileKind::Json);
        let breaks = if is_source { line_breaks(&passage.text) } else { 0 };
        position = position.with_lines(first, first.saturating_add(breaks));
    }
    position
}

/// Returns the number of line breaks of a text, without those at its end.
pub(super) fn line_breaks(text: &str) -> u32 {
    let breaks = text.trim_end().matches('\n').count();
    u32::try_from(breaks).unwrap_or(u32::MAX)
}
