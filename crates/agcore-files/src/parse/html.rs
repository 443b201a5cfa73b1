//! HTML: the visible text below headings, and tables.
//!
//! Only the tokenizer of the parser is used. A tree would need memory for every element, and time that grows faster than some
//! hostile files; the text needs neither.

use std::{cell::RefCell, mem};

use html5ever::{
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states::RawKind},
};
use serde_json::Value;

use crate::{
    decode::decode, grid::Grid, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem,
    table::Table, work::Work,
};

/// The number of bytes that are tokenized between two checks.
const CHUNK_BYTES: usize = 4096;

/// Elements inside of a line. All others end a line.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "img",
    "ins", "kbd", "label", "mark", "q", "rp", "rt", "ruby", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
];

/// Elements whose content is not shown.
const HIDDEN: &[&str] = &["noscript", "object", "script", "style", "svg", "template"];

/// Reads HTML.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let text = decode(work)?;
    let tokenizer = Tokenizer::new(Sink(RefCell::new(Reader::new(work))), TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(chunk_end(rest));
        rest = after;
        input.push_back(StrTendril::from(chunk));
        // A script does not stop the tokenizer, because the sink never asks for that.
        let _ = tokenizer.feed(&input);
        tokenizer.sink.0.borrow().problem()?;
        work.check()?;
    }
    tokenizer.end();
    let mut reader = tokenizer.sink.0.into_inner();
    reader.problem()?;
    if reader.table_depth > 0 {
        reader.end_table()?;
    }
    reader.end_block()?;
    let documents = if reader.outline.is_empty() && !reader.tables.is_empty() {
        Vec::new()
    } else {
        vec![reader.outline.into_document(FileKind::Html)?]
    };
    Ok(Preprocessed {
        documents,
        tables: reader.tables,
        ..Preprocessed::new()
    })
}

/// Returns where the first chunk of a text ends.
fn chunk_end(text: &str) -> usize {
    if text.len() <= CHUNK_BYTES {
        return text.len();
    }
    (CHUNK_BYTES..text.len())
        .find(|end| text.is_char_boundary(*end))
        .unwrap_or(text.len())
}

struct Sink<'w>(RefCell<Reader<'w>>);

impl TokenSink for Sink<'_> {
    type Handle = ();

    fn process_token(&self, token: Token, line: u64) -> TokenSinkResult<()> {
        let mut reader = self.0.borrow_mut();
        if reader.problem.is_some() {
            return TokenSinkResult::Continue;
        }
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let result = match token {
            Token::TagToken(tag) => {
                let raw = raw_kind(&tag);
                let result = reader.tag(&tag, line);
                if let (Some(kind), Ok(())) = (raw, &result) {
                    return TokenSinkResult::RawData(kind);
                }
                result
            }
            Token::CharacterTokens(text) => {
                reader.characters(&text, line);
                Ok(())
            }
            _ => Ok(()),
        };
        reader.problem = result.err();
        TokenSinkResult::Continue
    }
}

/// Returns how the content of an element is read that has no elements.
fn raw_kind(tag: &Tag) -> Option<RawKind> {
    if tag.kind == TagKind::EndTag {
        return None;
    }
    match &*tag.name {
        "script" => Some(RawKind::ScriptData),
        "style" | "noembed" | "noframes" | "xmp" => Some(RawKind::Rawtext),
        "title" | "textarea" => Some(RawKind::Rcdata),
        _ => None,
    }
}

struct Reader<'w> {
    work: &'w Work<'w>,
    outline: Outline<'w>,
    tables: Vec<Table>,
    /// The text of the open block, with white space as in the file.
    block: String,
    line: Option<u32>,
    /// The hidden element that is open, and how many of the same name are.
    hidden: Option<(String, usize)>,
    in_title: bool,
    is_preformatted: bool,
    /// How many tables are open. The cells of inner tables are text of the outer one.
    table_depth: usize,
    grid: Grid,
    grid_line: Option<u32>,
    row: Vec<Value>,
    in_cell: bool,
    problem: Option<FileProblem>,
}

impl<'w> Reader<'w> {
    fn new(work: &'w Work<'w>) -> Self {
        Self {
            work,
            outline: Outline::extracted(work),
            tables: Vec::new(),
            block: String::new(),
            line: None,
            hidden: None,
            in_title: false,
            is_preformatted: false,
            table_depth: 0,
            grid: Grid::default(),
            grid_line: None,
            row: Vec::new(),
            in_cell: false,
            problem: None,
        }
    }

    fn problem(&self) -> Result<(), FileProblem> {
        self.problem.clone().map_or(Ok(()), Err)
    }

    fn tag(&mut self, tag: &Tag, line: u32) -> Result<(), FileProblem> {
        let name = &*tag.name;
        let is_start = tag.kind == TagKind::StartTag;
        if self.is_hidden(name, is_start, tag.self_closing) || INLINE.contains(&name) {
            return Ok(());
        }
        match (name, is_start) {
            ("title", _) => self.title(is_start),
            ("table", true) => self.start_table(line)?,
            ("table", false) => self.end_inner_table()?,
            _ if self.table_depth > 0 => self.table_part(name, is_start)?,
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

    fn characters(&mut self, text: &str, line: u32) {
        if self.hidden.is_some() {
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

    fn table_part(&mut self, name: &str, is_start: bool) -> Result<(), FileProblem> {
        match (self.table_depth, name) {
            (1, "td" | "th") => {
                self.end_cell()?;
                self.in_cell = is_start;
            }
            (1, "tr") => self.end_row()?,
            (1, "caption") if !is_start => self.end_block()?,
            _ => self.block.push('\n'),
        }
        Ok(())
    }

    fn end_cell(&mut self) -> Result<(), FileProblem> {
        let text = flowed(&mem::take(&mut self.block));
        self.line = None;
        if mem::take(&mut self.in_cell) {
            self.row.push(if text.is_empty() {
                Value::Null
            } else {
                Value::from(text)
            });
        }
        self.work.check_row(self.row.len())
    }

    fn end_row(&mut self) -> Result<(), FileProblem> {
        self.end_cell()?;
        let row = mem::take(&mut self.row);
        if row.is_empty() {
            Ok(())
        } else {
            self.grid.push(self.work, row)
        }
    }

    fn end_table(&mut self) -> Result<(), FileProblem> {
        self.end_row()?;
        self.table_depth = 0;
        let line = self.grid_line.take();
        if let Some(mut table) = mem::take(&mut self.grid).into_table(self.work.name) {
            table.line = line;
            table.headings = self.outline.headings();
            self.tables.push(table);
        }
        Ok(())
    }
}

/// Puts white space together, as browsers do.
fn flowed(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}
