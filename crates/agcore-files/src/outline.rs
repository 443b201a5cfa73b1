//! [`Outline`]: collects the blocks of a document and cuts them into passages.

use std::{ops::Range, sync::Arc};

use crate::{
    document::{Document, Passage, Position},
    kind::FileKind,
    problem::FileProblem,
    work::Work,
};

/// The number of characters of a heading that is kept: it is repeated in each passage below it.
const HEADING_CHARS: usize = 200;

/// Neighbouring blocks that become a passage, or several if they are long.
#[derive(Debug)]
struct Block {
    /// Bytes of the text.
    range: Range<usize>,
    chars: usize,
    line: Option<u32>,
    page: Option<u32>,
    headings: Arc<[String]>,
}

/// A document under construction: blocks such as paragraphs, items of lists and headings. Short neighbours below the same
/// headings are put together.
#[derive(Debug)]
pub(crate) struct Outline<'w> {
    work: &'w Work<'w>,
    text: String,
    /// Whether the text is the file itself, so that its lines can be counted.
    is_source: bool,
    blocks: Vec<Block>,
    /// The open headings, with their levels.
    open: Vec<(u32, String)>,
    /// The open headings as blocks share them; `None` when they have changed.
    shared: Option<Arc<[String]>>,
    page: Option<u32>,
    title: Option<String>,
}

impl<'w> Outline<'w> {
    /// Creates an outline of extracted text.
    pub(crate) fn extracted(work: &'w Work<'w>) -> Self {
        Self::new(work, String::new(), false)
    }

    /// Creates an outline of a text whose blocks are ranges of it.
    #[cfg(feature = "_text")]
    pub(crate) fn of_source(work: &'w Work<'w>, text: String) -> Self {
        Self::new(work, text, true)
    }

    fn new(work: &'w Work<'w>, text: String, is_source: bool) -> Self {
        Self {
            work,
            text,
            is_source,
            blocks: Vec::new(),
            open: Vec::new(),
            shared: None,
            page: None,
            title: None,
        }
    }

    /// Sets the title. The first one stays.
    pub(crate) fn set_title(&mut self, title: &str) {
        let title = one_line(title);
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }

    /// Sets the page of the blocks that follow.
    pub(crate) fn set_page(&mut self, page: u32) {
        self.page = Some(page);
    }

    /// Opens a heading, from level 1, and closes those of the same or a deeper level.
    pub(crate) fn open_heading(&mut self, level: u32, heading: &str) {
        let heading = one_line(heading);
        if heading.is_empty() {
            return;
        }
        if level == 1 {
            self.set_title(&heading);
        }
        self.open.retain(|(open, _)| *open < level);
        self.open.push((level, heading));
        self.shared = None;
    }

    /// Replaces all open headings.
    #[cfg(feature = "json")]
    pub(crate) fn set_headings(&mut self, headings: impl IntoIterator<Item = String>) {
        let open: Vec<_> = (1..)
            .zip(headings.into_iter().map(|heading| one_line(&heading)))
            .collect();
        if open != self.open {
            self.open = open;
            self.shared = None;
        }
    }

    /// Returns the open headings, the outermost first.
    pub(crate) fn headings(&self) -> Vec<String> {
        self.open.iter().map(|(_, heading)| heading.clone()).collect()
    }

    /// Adds a block of extracted text, with its line in the file if that is known.
    pub(crate) fn push(&mut self, text: &str, line: Option<u32>) -> Result<(), FileProblem> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(());
        }
        if !self.text.is_empty() {
            self.text.push_str("\n\n");
        }
        let start = self.text.len();
        self.text.push_str(text);
        self.push_range(start..self.text.len(), line)
    }

    /// Adds a block that is a range of the text. Ranges must be added in their order and not overlap.
    pub(crate) fn push_range(&mut self, range: Range<usize>, line: Option<u32>) -> Result<(), FileProblem> {
        self.work.check()?;
        let (start, length) = trimmed(self.text.get(range.clone()).unwrap_or_default());
        if length == 0 {
            return Ok(());
        }
        let range = range.start + start..range.start + start + length;
        let headings = self.shared_headings();
        let longest = self.longest();
        if let Some(last) = self.blocks.last_mut()
            && last.page == self.page
            && Arc::ptr_eq(&last.headings, &headings)
        {
            let added = self.text[last.range.end..range.end].chars().count();
            if last.chars + added <= longest {
                last.chars += added;
                last.range.end = range.end;
                return Ok(());
            }
        }
        self.check_passages(self.blocks.len())?;
        self.blocks.push(Block {
            chars: self.text[range.clone()].chars().count(),
            range,
            line,
            page: self.page,
            headings,
        });
        Ok(())
    }

    /// Returns whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Returns the text so far.
    #[cfg(feature = "_text")]
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the document, in which long blocks are cut into several passages.
    pub(crate) fn into_document(self, kind: FileKind) -> Result<Document, FileProblem> {
        let mut cursor = Cursor::default();
        let mut passages = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            self.work.check()?;
            for part in parts(&self.text, block.range.clone(), self.longest()) {
                self.check_passages(passages.len())?;
                passages.push(self.passage(block, part, &mut cursor));
            }
        }
        Ok(Document {
            name: self.work.name.to_owned(),
            kind,
            title: self.title,
            passages,
        })
    }

    fn passage(&self, block: &Block, range: Range<usize>, cursor: &mut Cursor) -> Passage {
        let text = &self.text[range.clone()];
        cursor.advance(&self.text, range.start);
        let start = cursor.chars;
        Passage {
            text: text.to_owned(),
            position: Position {
                page: block.page,
                line: if self.is_source {
                    Some(cursor.lines + 1)
                } else {
                    block.line
                },
                start,
                end: start + text.chars().count(),
                headings: block.headings.to_vec(),
            },
        }
    }

    fn shared_headings(&mut self) -> Arc<[String]> {
        if let Some(shared) = &self.shared {
            return Arc::clone(shared);
        }
        let headings = Arc::from(self.headings());
        self.shared = Some(Arc::clone(&headings));
        headings
    }

    fn longest(&self) -> usize {
        self.work.limits.passage_chars.max(1)
    }

    /// Fails if there may be no passage besides these.
    fn check_passages(&self, passages: usize) -> Result<(), FileProblem> {
        let limit = self.work.limits.passages;
        if passages >= limit {
            return Err(self.work.exceeded(&format!("it has more than {limit} passages")));
        }
        Ok(())
    }
}

/// A place in the text, in bytes, characters and lines.
#[derive(Debug, Default)]
struct Cursor {
    bytes: usize,
    chars: usize,
    lines: u32,
}

impl Cursor {
    fn advance(&mut self, text: &str, bytes: usize) {
        for char in text[self.bytes..bytes].chars() {
            self.chars += 1;
            self.lines = self.lines.saturating_add(u32::from(char == '\n'));
        }
        self.bytes = bytes;
    }
}

/// Divides a range of the text into parts of at most `longest` characters.
fn parts(text: &str, range: Range<usize>, longest: usize) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut rest = range;
    while rest.start < rest.end {
        let (start, length) = trimmed(&text[rest.clone()]);
        let start = rest.start + start;
        if length == 0 {
            break;
        }
        let cut = start + cut(&text[start..start + length], longest);
        let (_, kept) = trimmed(&text[start..cut]);
        parts.push(start..start + kept);
        rest.start = cut;
    }
    parts
}

/// Returns where to cut a text so that the first part has at most `longest` characters: after a paragraph, a line, a sentence or
/// a word if one ends in the second half, otherwise within a word.
fn cut(text: &str, longest: usize) -> usize {
    let Some((end, _)) = text.char_indices().nth(longest) else {
        return text.len();
    };
    let window = &text[..end];
    let half = window.char_indices().nth(longest / 2).map_or(0, |(half, _)| half);
    let after = |pattern: &str| window.rfind(pattern).map(|found| found + pattern.len());
    let sentence = [". ", "! ", "? ", "。", "！", "？"].into_iter().filter_map(after).max();
    let candidates = [after("\n\n"), after("\n"), sentence, after(" ")];
    let found = candidates.into_iter().flatten().find(|cut| *cut > half);
    found.unwrap_or(end)
}

/// Returns the offset and the length of a text without the white space around it.
fn trimmed(text: &str) -> (usize, usize) {
    let start = text.len() - text.trim_start().len();
    (start, text.trim().len())
}

/// Returns a text as one line of limited length.
fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(HEADING_CHARS).collect();
    words.join(" ").chars().take(HEADING_CHARS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, longest: usize, expected: &[&str]) {
        let parts = parts(text, 0..text.len(), longest);
        let found: Vec<&str> = parts.into_iter().map(|part| &text[part]).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn long_texts_are_cut_where_something_ends() {
        check("short", 10, &["short"]);
        check("one two three four", 10, &["one two", "three four"]);
        check("First one. Second one.", 14, &["First one.", "Second one."]);
        check("line one\nline two", 12, &["line one", "line two"]);
        check("para one\n\nx\ny z w", 14, &["para one", "x\ny z w"]);
        check("abcdefghij", 4, &["abcd", "efgh", "ij"]);
        check("äöüäöü", 4, &["äöüä", "öü"]);
        check("这是第一句。这是第二句。", 8, &["这是第一句。", "这是第二句。"]);
        check("   \n  ", 4, &[]);
    }
}
