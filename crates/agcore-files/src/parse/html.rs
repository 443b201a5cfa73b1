//! HTML: the visible text below headings, and tables.
//!
//! Only the tokenizer of the parser is used. A tree would need memory for every element, and time that grows faster than some
//! hostile files; the text needs neither.

mod reader;
mod row;

use std::cell::RefCell;

use html5ever::{
    buffer_queue::BufferQueue,
    tendril::StrTendril,
    tokenizer::{Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states::RawKind},
};

use self::reader::Reader;
use crate::{
    decode::decode_marked_up, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem,
    table::Table, work::Work,
};

/// The number of bytes that are tokenized between two checks.
const CHUNK_BYTES: usize = 4096;

/// Reads HTML.
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let text = decode_marked_up(work)?;
    let (outline, tables) = read(work, &text, Outline::extracted(work))?;
    let documents = if outline.is_empty() && !tables.is_empty() {
        Vec::new()
    } else {
        vec![outline.into_document(FileKind::Html)?]
    };
    Ok(Preprocessed {
        documents,
        tables,
        ..Preprocessed::new()
    })
}

/// Adds the text of HTML to an outline, and returns it with the tables.
pub(crate) fn read<'w>(
    work: &'w Work<'w>,
    text: &str,
    outline: Outline<'w>,
) -> Result<(Outline<'w>, Vec<Table>), FileProblem> {
    let tokenizer = Tokenizer::new(Sink(RefCell::new(Reader::new(work, outline))), TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = text;
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
    tokenizer.sink.0.into_inner().finish()
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
        if reader.problem().is_err() {
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
        reader.set_problem(result.err());
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
