//! [`Reader`]: the text and the tables of HTML, tag by tag.

use std::mem;

use html5ever::tokenizer::{Tag, TagKind};
use serde_json::Value;

use super::row::{Row, Span};
use crate::{grid::Grid, outline::Outline, problem::FileProblem, table::Table, work::Work};

/// Elements inside of a line. All others end a line.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "small", "span", "strike",
    "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// Elements whose content is not shown.
const HIDDEN: &[&str] = &["noscript", "object", "script", "style", "svg", "template"];

/// The elements of a ruby annotation: how the characters before them are pronounced.
const READINGS: &[&str] = &["rp", "rt"];

/// Reads tags and characters.
pub(super) struct Reader<'w> {
    work: &'w Work<'w>,
    outline: Outline<'w>,
    tables: Vec<Table>,
    /// The text of the open block, with white space as in the file.
    block: String,
    line: Option<u32>,
    /// The hidden element that is open, and how many of the same name are.
    hidden: Option<(String, usize)>,
    /// Whether a reading is open. Its end tag may be missing.
    in_reading: bool,
    in_title: bool,
    is_preformatted: bool,
    /// How many tables are open. The cells of inner tables are text of the outer one.
    table_depth: usize,
    grid: Grid,
    grid_line: Option<u32>,
    caption: Vec<String>,
    row: Row,
    /// The span of the open cell, and whether it is a heading.
    cell: Option<(Span, bool)>,
    in_row: bool,
    in_head: bool,
    in_caption: bool,
    /// Whether all cells of the row so far are headings.
    is_header: bool,
    /// How many rows at the beginning of the table have names of columns.
    header: usize,
    problem: Option<FileProblem>,
}

impl<'w> Reader<'w> {
    pub(super) fn new(work: &'w Work<'w>, outline: Outline<'w>) -> Self {
        Self {
            work,
            outline,
            tables: Vec::new(),
            block: String::new(),
            line: None,
            hidden: None,
            in_reading: false,
            in_title: false,
            is_preformatted: false,
            table_depth: 0,
            grid: Grid::default(),
            grid_line: None,
            caption: Vec::new(),
            row: Row::default(),
            cell: None,
            in_row: false,
            in_head: false,
            in_caption: false,
            is_header: true,
            header: 0,
            problem: None,
        }
    }

    pub(super) fn problem(&self) -> Result<(), FileProblem> {
        self.problem.clone().map_or(Ok(()), Err)
    }

    pub(super) fn set_problem(&mut self, problem: Option<FileProblem>) {
        self.problem = problem;
    }

    /// Returns what was read.
    pub(super) fn finish(mut self) -> Result<(Outline<'w>, Vec<Table>), FileProblem> {
        self.problem()?;
        if self.table_depth > 0 {
            self.end_table()?;
        }
        self.end_block()?;
        Ok((self.outline, self.tables))
    }

    pub(super) fn tag(&mut self, tag: &Tag, line: u32) -> Result<(), FileProblem> {
        let name = &*tag.name;
        let is_start = tag.kind == TagKind::StartTag;
        if self.is_hidden(name, is_start, tag.self_closing) {
            return Ok(());
        }
        let is_inline = INLINE.contains(&name);
        if READINGS.contains(&name) {
            self.in_reading = is_start;
        } else if !is_inline || name.starts_with('r') {
            self.in_reading = false;
        }
        if is_inline {
            return Ok(());
        }
        match (name, is_start) {
            ("title", _) => self.title(is_start),
            ("table", true) => self.start_table(line)?,
            ("table", false) => self.end_inner_table()?,
            _ if self.table_depth > 0 => self.table_part(tag)?,
            ("br", _) => self.block.push(if self.is_preformatted { '\n' } else { ' ' }),
            ("h1" | "h2" | "h3" | "h4" | "h5" | "h6", false) => self.end_heading(name)?,
            _ => self.end_block()?,
        }
        if name == "pre" {
            self.is_preformatted = is_start;
        }
        Ok(())
    }

    /// Returns whether a tag belongs to an element that is not shown.
    fn is_hidden(&mut self, name: &str, is_start: bool, is_closed: bool) -> bool {
        if let Some((hidden, open)) = &mut self.hidden {
            if hidden == name {
                *open = if is_start { *open + 1 } else { *open - 1 };
                if *open == 0 {
                    self.hidden = None;
                }
            }
            return true;
        }
        let begins = is_start && !is_closed && HIDDEN.contains(&name);
        if begins {
            self.hidden = Some((name.to_owned(), 1));
        }
        begins
    }

    fn title(&mut self, is_start: bool) {
        if is_start {
            self.in_title = true;
        } else if mem::take(&mut self.in_title) {
            let title = mem::take(&mut self.block);
            self.outline.set_title(&title);
        }
    }

    pub(super) fn characters(&mut self, text: &str, line: u32) {
        if self.hidden.is_some() || self.in_reading {
            return;
        }
        if self.line.is_none() && !text.trim().is_empty() {
            self.line = Some(line);
        }
        self.block.push_str(text);
    }

    fn end_heading(&mut self, name: &str) -> Result<(), FileProblem> {
        let level = name[1..].parse().unwrap_or(1);
        let heading = flowed(&self.block);
        self.outline.open_heading(level, &heading);
        self.end_block()
    }

    fn end_block(&mut self) -> Result<(), FileProblem> {
        let block = mem::take(&mut self.block);
        let line = self.line.take();
        let text = if self.is_preformatted { block } else { flowed(&block) };
        self.outline.push(&text, line)
    }

    fn start_table(&mut self, line: u32) -> Result<(), FileProblem> {
        if self.table_depth == 0 {
            self.end_block()?;
            self.grid_line = Some(line);
        }
        self.table_depth += 1;
        Ok(())
    }

    fn end_inner_table(&mut self) -> Result<(), FileProblem> {
        self.table_depth = self.table_depth.saturating_sub(1);
        if self.table_depth == 0 {
            self.end_table()
        } else {
            Ok(())
        }
    }

    fn table_part(&mut self, tag: &Tag) -> Result<(), FileProblem> {
        let name = &*tag.name;
        let is_start = tag.kind == TagKind::StartTag;
        if self.table_depth > 1 {
            self.block.push('\n');
            return Ok(());
        }
        match name {
            "td" | "th" => {
                self.end_cell()?;
                if is_start {
                    self.in_row = true;
                    let span = Span::new(attribute(tag, "colspan"), attribute(tag, "rowspan"));
                    self.cell = Some((span, name == "th"));
                }
            }
            "tr" => {
                self.end_row()?;
                self.in_row = is_start;
            }
            "thead" | "tbody" | "tfoot" => {
                self.end_row()?;
                self.row.end_group();
                self.in_head = is_start && name == "thead";
            }
            "caption" => {
                self.end_cell()?;
                self.in_caption = is_start;
            }
            _ => self.block.push('\n'),
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), FileProblem> {
        let block = mem::take(&mut self.block);
        let line = self.line.take();
        let text = flowed(&block);
        let Some((span, is_heading)) = self.cell.take() else {
            // Text between the cells is shown outside of the table, except for its caption.
            if mem::take(&mut self.in_caption) && !text.is_empty() {
                self.caption.push(text);
                return Ok(());
            }
            return self.outline.push(&text, line);
        };
        self.is_header &= is_heading || self.in_head;
        let rows = self.grid.len();
        let is_name = rows == 0 || rows < self.header || (rows == self.header && self.is_header);
        let value = if text.is_empty() {
            Value::Null
        } else {
            Value::from(text)
        };
        self.row.push(self.work, &value, span, is_name)
    }

    fn end_row(&mut self) -> Result<(), FileProblem> {
        self.end_cell()?;
        let is_header = mem::replace(&mut self.is_header, true);
        if !mem::take(&mut self.in_row) {
            return Ok(());
        }
        let (own, widest, tallest) = self.row.shape();
        let rows = self.grid.len();
        let mut row = self.row.end();
        if row.is_empty() {
            return Ok(());
        }
        if own == 1 && widest > 1 && row.len() == widest {
            // A title, or the heading of the rows below.
            row.truncate(1);
            if rows == 0 {
                self.caption
                    .extend(row.first().and_then(Value::as_str).map(str::to_owned));
                return Ok(());
            }
        }
        if rows == 0 && widest > 1 && tallest > 1 {
            self.header = tallest;
        } else if is_header && self.header == rows {
            self.header += 1;
        }
        self.grid.push(self.work, row)
    }

    fn end_table(&mut self) -> Result<(), FileProblem> {
        self.end_row()?;
        self.table_depth = 0;
        self.in_head = false;
        self.row = Row::default();
        let line = self.grid_line.take();
        let caption = mem::take(&mut self.caption).join(" ");
        let grid = mem::take(&mut self.grid);
        let header = mem::take(&mut self.header);
        if grid.len() < 2 {
            // A single row arranges text on the page.
            self.outline.push(&caption, line)?;
            let cells = grid.only_row().unwrap_or_default();
            let mut texts = cells.iter().filter_map(Value::as_str);
            return texts.try_for_each(|text| self.outline.push(text, line));
        }
        if let Some(mut table) = grid.into_table_below(self.work.name, header) {
            table.line = line;
            table.headings = self.outline.headings();
            table.caption = Some(caption).filter(|caption| !caption.is_empty());
            self.tables.push(table);
        }
        Ok(())
    }
}

fn attribute<'t>(tag: &'t Tag, name: &str) -> Option<&'t str> {
    let found = tag.attrs.iter().find(|attribute| &*attribute.name.local == name);
    found.map(|attribute| &*attribute.value)
}

/// Puts white space together, as browsers do.
fn flowed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
