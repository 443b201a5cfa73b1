//! Plain text: blocks are separated by blank lines.

use std::ops::Range;

use crate::{
    decode::decode, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem, work::Work,
};

/// Reads plain text.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let mut outline = Outline::of_source(work, decode(work)?);
    let mut start = 0;
    while let Some(block) = next_block(&outline.text()[start..]) {
        let range = start + block.start..start + block.end;
        start = range.end;
        outline.push_range(range, None)?;
    }
    Ok(Preprocessed {
        documents: vec![outline.into_document(FileKind::Text)?],
        ..Preprocessed::new()
    })
}

/// Returns the range of the first lines that are not blank.
fn next_block(text: &str) -> Option<Range<usize>> {
    let start = text.len() - text.trim_start().len();
    let mut end = start;
    for line in text[start..].split_inclusive('\n') {
        if line.trim().is_empty() {
            break;
        }
        end += line.len();
    }
    (start < end).then_some(start..end)
}
