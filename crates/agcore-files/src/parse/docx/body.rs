//! [`Body`]: the paragraphs and tables of a part.

use std::{collections::HashMap, mem};

use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

use super::{
    chunk::Chunk,
    rows::Rows,
    styles::{Role, Styles, role_of_outline},
    xml::{attribute, each_event, referenced},
};
use crate::{kind::FileKind, outline::Outline, parse::html, problem::FileProblem, table::Table, work::Work};

/// Elements whose content is not shown, or shown elsewhere: an alternative to what was already read, text that was deleted or moved
/// away, and readings above characters.
const HIDDEN: [&str; 4] = ["Fallback", "del", "moveFrom", "rt"];

/// A paragraph that is open. Text boxes have paragraphs inside of paragraphs.
#[derive(Debug, Default)]
struct Paragraph {
    text: String,
    role: Option<Role>,
}

/// Reads parts of a document.
pub(super) struct Body<'w> {
    work: &'w Work<'w>,
    styles: &'w Styles,
    chunks: &'w HashMap<String, Chunk>,
    outline: Outline<'w>,
    tables: Vec<Table>,
    warnings: Vec<FileProblem>,
    paragraphs: Vec<Paragraph>,
    in_run: bool,
    in_text: bool,
    /// How many elements are open since one that is hidden.
    skipped: usize,
    page: u32,
    /// Whether the document contains where pages ended when it was saved, so that requested breaks need not be counted.
    has_rendered_breaks: bool,
    /// How many tables are open. The cells of inner tables are text of the outer one.
    table_depth: usize,
    cell: String,
    rows: Rows,
    in_row_properties: bool,
    /// The caption that is the last paragraph so far.
    caption: Option<String>,
}

impl<'w> Body<'w> {
    pub(super) fn new(
        work: &'w Work<'w>,
        outline: Outline<'w>,
        styles: &'w Styles,
        chunks: &'w HashMap<String, Chunk>,
    ) -> Self {
        Self {
            work,
            styles,
            chunks,
            outline,
            tables: Vec::new(),
            warnings: Vec::new(),
            paragraphs: Vec::new(),
            in_run: false,
            in_text: false,
            skipped: 0,
            page: 1,
            has_rendered_breaks: false,
            table_depth: 0,
            cell: String::new(),
            rows: Rows::default(),
            in_row_properties: false,
            caption: None,
        }
    }

    /// Reads a part.
    pub(super) fn read(&mut self, text: &str) -> Result<(), FileProblem> {
        self.has_rendered_breaks = text.contains("lastRenderedPageBreak");
        self.outline.set_page(self.page);
        let work = self.work;
        each_event(work, text, |event| self.event(event))?;
        self.paragraphs.clear();
        self.table_depth = 0;
        Ok(())
    }

    /// Returns what was read.
    pub(super) fn finish(self) -> (Outline<'w>, Vec<Table>, Vec<FileProblem>) {
        (self.outline, self.tables, self.warnings)
    }

    fn event(&mut self, event: Event<'_>) -> Result<(), FileProblem> {
        match event {
            Event::Start(_) if self.skipped > 0 => self.skipped += 1,
            Event::End(_) if self.skipped > 0 => self.skipped -= 1,
            _ if self.skipped > 0 => {}
            Event::Start(element) => self.start(&element)?,
            Event::End(element) => self.end(element.local_name().as_ref())?,
            Event::Text(text) if self.in_text => self.add(&text),
            Event::CData(text) if self.in_text => self.add(&text),
            Event::GeneralRef(reference) if self.in_text => self.add(&referenced(self.work, &reference)?),
            _ => {}
        }
        Ok(())
    }

    fn start(&mut self, element: &BytesStart<'_>) -> Result<(), FileProblem> {
        let value = || attribute(element, "val");
        match element.local_name().as_ref() {
            "del" if self.in_row_properties => self.rows.delete_row(),
            name if HIDDEN.contains(&name) => self.skipped = 1,
            "altChunk" => self.chunk(&attribute(element, "id").unwrap_or_default())?,
            "p" => self.paragraphs.push(Paragraph::default()),
            "pStyle" => self.set_role(value().and_then(|id| self.styles.role(&id))),
            "outlineLvl" => self.set_role(value().and_then(|level| role_of_outline(&level))),
            "r" => self.in_run = true,
            "t" => self.in_text = self.in_run,
            "tab" if self.in_run => self.add("\t"),
            "noBreakHyphen" => self.add("-"),
            "br" | "cr" => {
                self.add("\n");
                if attribute(element, "type").as_deref() == Some("page") && !self.has_rendered_breaks {
                    self.next_page()?;
                }
            }
            "lastRenderedPageBreak" => self.next_page()?,
            "tbl" => self.table_depth += 1,
            "trPr" if self.table_depth == 1 => self.in_row_properties = true,
            name if self.table_depth == 1 => self.rows.property(self.work, name, value().as_deref())?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), FileProblem> {
        match name {
            "p" => self.end_paragraph()?,
            "r" => self.in_run = false,
            "t" => self.in_text = false,
            "tc" if self.table_depth == 1 => self.end_cell()?,
            "trPr" => self.in_row_properties = false,
            "tr" if self.table_depth == 1 => self.rows.end_row(self.work)?,
            "tbl" => {
                self.table_depth = self.table_depth.saturating_sub(1);
                if self.table_depth == 0 {
                    self.end_table()?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add(&mut self, text: &str) {
        if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.text.push_str(text);
        }
    }

    fn set_role(&mut self, role: Option<Role>) {
        if let (Some(paragraph), Some(_)) = (self.paragraphs.last_mut(), role) {
            paragraph.role = role;
        }
    }

    fn next_page(&mut self) -> Result<(), FileProblem> {
        self.page = self.page.saturating_add(1);
        self.outline.set_page(self.page);
        let limit = self.work.limits.pages;
        if self.page as usize > limit {
            return Err(self.work.exceeded(&format!("it has more than {limit} pages")));
        }
        Ok(())
    }

    fn end_paragraph(&mut self) -> Result<(), FileProblem> {
        let Some(paragraph) = self.paragraphs.pop() else {
            return Ok(());
        };
        if self.table_depth > 0 {
            self.cell.push_str(&paragraph.text);
            self.cell.push('\n');
            return Ok(());
        }
        if !paragraph.text.trim().is_empty() {
            self.caption = None;
        }
        match paragraph.role {
            Some(Role::Title) => self.outline.set_title(&paragraph.text),
            Some(Role::Heading(level)) => self.outline.open_heading(level, &paragraph.text),
            Some(Role::Caption) => self.caption = Some(paragraph.text.trim().to_owned()),
            None => {}
        }
        self.outline.push(&paragraph.text, None)
    }

    fn end_cell(&mut self) -> Result<(), FileProblem> {
        let cell = mem::take(&mut self.cell);
        let text = cell.trim();
        let value = if text.is_empty() {
            Value::Null
        } else {
            Value::from(text)
        };
        self.rows.push(self.work, value)
    }

    fn end_table(&mut self) -> Result<(), FileProblem> {
        self.cell.clear();
        let caption = self.caption.take();
        let rows = mem::take(&mut self.rows);
        if let Some(cells) = rows.only_row() {
            // A single row arranges text on the page.
            let mut texts = cells.iter().filter_map(Value::as_str);
            return texts.try_for_each(|text| self.outline.push(text, None));
        }
        let (table, title) = rows.into_table(self.work.name);
        let Some(mut table) = table else {
            return self.outline.push(&title, None);
        };
        table.headings = self.outline.headings();
        let parts = [caption.unwrap_or_default(), title]
            .into_iter()
            .filter(|part| !part.is_empty());
        let caption = parts.collect::<Vec<_>>().join(" ");
        table.caption = Some(caption).filter(|caption| !caption.is_empty());
        self.tables.push(table);
        Ok(())
    }

    /// Reads a file in the document.
    fn chunk(&mut self, id: &str) -> Result<(), FileProblem> {
        let work = self.work;
        match self.chunks.get(id) {
            None => self
                .warnings
                .push(work.incomplete("it refers to a file in it that is missing")),
            Some(Chunk::Other(what)) => {
                let message = format!("it contains {what}, which is not read; copy its text into the document");
                self.warnings.push(work.incomplete(&message));
            }
            Some(Chunk::Text(text)) if self.table_depth > 0 => self.cell.push_str(text),
            Some(Chunk::Text(text)) => self.outline.push(text, None)?,
            Some(Chunk::Html(text)) if self.table_depth > 0 => {
                let (outline, tables) = html::read(work, text, Outline::extracted(work))?;
                self.cell.push_str(&outline.into_document(FileKind::Docx)?.text());
                self.tables.extend(tables);
            }
            Some(Chunk::Html(text)) => {
                let outline = mem::replace(&mut self.outline, Outline::extracted(work));
                let (outline, tables) = html::read(work, text, outline)?;
                self.outline = outline;
                self.tables.extend(tables);
            }
        }
        Ok(())
    }
}
