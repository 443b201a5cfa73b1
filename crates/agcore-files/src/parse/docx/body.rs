//! [`Body`]: the paragraphs and tables of a part.

use std::mem;

use quick_xml::events::{BytesStart, Event};
use serde_json::Value;

use super::{
    styles::{Role, Styles, role_of_outline},
    xml::{attribute, each_event, referenced},
};
use crate::{grid::Grid, outline::Outline, problem::FileProblem, table::Table, work::Work};

/// The largest number of columns that Word lets a cell span.
const MAX_SPAN: usize = 63;

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
    outline: Outline<'w>,
    tables: Vec<Table>,
    paragraphs: Vec<Paragraph>,
    in_run: bool,
    in_text: bool,
    /// How many elements are open since one whose content is an alternative to what was already read.
    skipped: usize,
    page: u32,
    /// Whether the document contains where pages ended when it was saved, so that requested breaks need not be counted.
    has_rendered_breaks: bool,
    /// How many tables are open. The cells of inner tables are text of the outer one.
    table_depth: usize,
    cell: String,
    span: usize,
    row: Vec<Value>,
    grid: Grid,
}

impl<'w> Body<'w> {
    pub(super) fn new(work: &'w Work<'w>, outline: Outline<'w>, styles: &'w Styles) -> Self {
        Self {
            work,
            styles,
            outline,
            tables: Vec::new(),
            paragraphs: Vec::new(),
            in_run: false,
            in_text: false,
            skipped: 0,
            page: 1,
            has_rendered_breaks: false,
            table_depth: 0,
            cell: String::new(),
            span: 1,
            row: Vec::new(),
            grid: Grid::default(),
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
    pub(super) fn finish(self) -> (Outline<'w>, Vec<Table>) {
        (self.outline, self.tables)
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
            "Fallback" => self.skipped = 1,
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
            "tc" if self.table_depth == 1 => self.span = 1,
            "gridSpan" if self.table_depth == 1 => {
                let span = value().and_then(|span| span.parse().ok());
                self.span = span.unwrap_or(1).clamp(1, MAX_SPAN);
            }
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
            "tr" if self.table_depth == 1 => self.grid.push(self.work, mem::take(&mut self.row))?,
            "tbl" => {
                self.table_depth = self.table_depth.saturating_sub(1);
                if self.table_depth == 0 {
                    self.end_table();
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
        match paragraph.role {
            Some(Role::Title) => self.outline.set_title(&paragraph.text),
            Some(Role::Heading(level)) => self.outline.open_heading(level, &paragraph.text),
            None => {}
        }
        self.outline.push(&paragraph.text, None)
    }

    fn end_cell(&mut self) -> Result<(), FileProblem> {
        let cell = mem::take(&mut self.cell);
        let text = cell.trim();
        self.row.push(if text.is_empty() {
            Value::Null
        } else {
            Value::from(text)
        });
        self.row.extend((1..self.span).map(|_| Value::Null));
        self.span = 1;
        self.work.check_row(self.row.len())
    }

    fn end_table(&mut self) {
        self.cell.clear();
        self.row.clear();
        if let Some(mut table) = mem::take(&mut self.grid).into_table(self.work.name) {
            table.headings = self.outline.headings();
            self.tables.push(table);
        }
    }
}
