//! Markdown: blocks of the file below headings, and tables.

use std::{mem, ops::Range};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

use crate::{
    decode::decode, grid::Grid, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem,
    table::Table, work::Work,
};

/// Reads Markdown. Passages are parts of the file, with its markup.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let source = decode(work)?;
    let mut reader = Reader {
        work,
        outline: Outline::of_source(work, source.clone()),
        tables: Vec::new(),
        depth: 0,
        block: 0..0,
        text: None,
        grid: Grid::default(),
        row: Vec::new(),
    };
    let options = Options::ENABLE_TABLES | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS | Options::ENABLE_STRIKETHROUGH;
    for (event, range) in Parser::new_ext(&source, options).into_offset_iter() {
        work.check()?;
        reader.event(event, range)?;
    }
    Ok(Preprocessed {
        documents: vec![reader.outline.into_document(FileKind::Markdown)?],
        tables: reader.tables,
        ..Preprocessed::new()
    })
}

struct Reader<'w> {
    work: &'w Work<'w>,
    outline: Outline<'w>,
    tables: Vec<Table>,
    /// How many elements are open.
    depth: usize,
    /// The bytes of the outermost open element.
    block: Range<usize>,
    /// The text of the open heading or cell.
    text: Option<String>,
    grid: Grid,
    row: Vec<Value>,
}

impl Reader<'_> {
    fn event(&mut self, event: Event<'_>, range: Range<usize>) -> Result<(), FileProblem> {
        match event {
            Event::Start(tag) => {
                if self.depth == 0 {
                    self.block = range;
                }
                self.depth += 1;
                if matches!(tag, Tag::Heading { .. } | Tag::TableCell) {
                    self.text = Some(String::new());
                }
            }
            Event::End(tag) => {
                self.depth = self.depth.saturating_sub(1);
                self.end(tag)?;
            }
            Event::Text(text) | Event::Code(text) => self.collect(&text),
            Event::SoftBreak | Event::HardBreak => self.collect(" "),
            // A thematic break between blocks has no text.
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, tag: TagEnd) -> Result<(), FileProblem> {
        match tag {
            TagEnd::Heading(level) => {
                let heading = self.text.take().unwrap_or_default();
                // Headings in quotes and lists do not divide the document.
                if self.depth == 0 {
                    self.outline.open_heading(level as u32, &heading);
                }
            }
            TagEnd::TableCell => {
                let cell = self.text.take().unwrap_or_default();
                let cell = cell.trim();
                let is_empty = cell.is_empty();
                self.row.push(if is_empty { Value::Null } else { Value::from(cell) });
            }
            TagEnd::TableHead | TagEnd::TableRow => self.grid.push(self.work, mem::take(&mut self.row))?,
            TagEnd::Table => {
                if let Some(mut table) = mem::take(&mut self.grid).into_table(self.work.name) {
                    table.headings = self.outline.headings();
                    self.tables.push(table);
                }
            }
            _ => {}
        }
        let is_metadata = matches!(tag, TagEnd::MetadataBlock(_));
        if self.depth == 0 && !is_metadata {
            self.outline.push_range(self.block.clone(), None)?;
        }
        Ok(())
    }

    fn collect(&mut self, part: &str) {
        if let Some(text) = &mut self.text {
            text.push_str(part);
        }
    }
}
