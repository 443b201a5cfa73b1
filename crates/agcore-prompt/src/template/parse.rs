//! The parser: converts a source into nodes.
//!
//! It makes one pass over the tokens and keeps the open blocks on an explicit stack, so it never recurses.

use super::{
    frame::{Frame, Part},
    lexer::{Lexer, Tag, TagContent, TagKind, Token},
    node::{Block, Condition, Include, MAX_DEPTH, Node},
    parse_error::ParseError,
    path::{Path, is_template_name},
    space::{Trim, trims},
};

/// A parsed source.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Block,
    /// The nesting depth of the blocks.
    pub(super) depth: usize,
}

/// Parses a source.
pub(super) fn parse(source: &str) -> Result<Program, ParseError> {
    let mut parser = Parser {
        source,
        nodes: Vec::new(),
        frames: Vec::new(),
        trim: Trim::None,
        text: "",
        depth: 0,
    };
    let mut lexer = Lexer::new(source);
    while let Some(token) = lexer.next()? {
        match token {
            Token::Text(text) => parser.text(text),
            Token::Tag(tag) => parser.tag(&tag, &mut lexer)?,
        }
    }
    parser.push_text(parser.text);
    match parser.frames.last() {
        None => Ok(Program {
            nodes: parser.nodes.into(),
            depth: parser.depth,
        }),
        Some(open) => Err(unclosed(open.keyword, open.offset)),
    }
}

struct Parser<'s> {
    source: &'s str,
    /// The nodes of the innermost open block.
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    /// The trimming that the previous tag applies to the start of the text after it.
    trim: Trim,
    /// The latest text, from whose end the next tag may trim.
    text: &'s str,
    depth: usize,
}

impl<'s> Parser<'s> {
    fn text(&mut self, text: &'s str) {
        let text = std::mem::take(&mut self.trim).start(text);
        let before = std::mem::replace(&mut self.text, text);
        self.push_text(before);
    }

    fn tag(&mut self, tag: &Tag<'s>, lexer: &mut Lexer<'s>) -> Result<(), ParseError> {
        let indent = self.trim_around(tag);
        match tag.kind {
            TagKind::Comment => Ok(()),
            TagKind::Print(content) => {
                self.nodes.push(Node::Print(Path::parse(content)?));
                Ok(())
            }
            TagKind::Open(content) => self.open(tag, content, lexer),
            TagKind::Else(content) => self.switch(tag, content),
            TagKind::Close(content) => self.close(tag, content),
            TagKind::Include(content) => self.include(tag, content, indent),
        }
    }

    /// Trims the text around the tag and returns the whitespace before a standalone tag.
    fn trim_around(&mut self, tag: &Tag<'_>) -> &'s str {
        let (before, after) = trims(self.source, tag);
        self.trim = after;
        let text = std::mem::take(&mut self.text);
        let rest = before.end(text);
        self.push_text(rest);
        if before == Trim::Line { &text[rest.len()..] } else { "" }
    }

    fn push_text(&mut self, text: &str) {
        if !text.is_empty() {
            self.nodes.push(Node::Text(text.into()));
        }
    }

    fn open(&mut self, tag: &Tag<'s>, content: TagContent<'s>, lexer: &mut Lexer<'s>) -> Result<(), ParseError> {
        let (name, argument) = content.split_word();
        let (keyword, part) = match name {
            "if" => ("if", Part::Arm(condition(argument, false)?)),
            "unless" => ("unless", Part::Arm(condition(argument, true)?)),
            "each" => ("each", Part::Loop(Path::parse(argument)?)),
            "raw" => ("raw", Part::Otherwise),
            _ => {
                return Err(ParseError::unexpected(
                    content.offset,
                    "a block name (if, unless, each or raw)",
                    content.text,
                ));
            }
        };
        if self.frames.len() == MAX_DEPTH {
            return Err(ParseError::depth(tag.start, MAX_DEPTH));
        }
        self.depth = self.depth.max(self.frames.len() + 1);
        if keyword == "raw" {
            return self.raw(tag, argument, lexer);
        }
        self.frames
            .push(Frame::new(keyword, part, tag.start, std::mem::take(&mut self.nodes)));
        Ok(())
    }

    /// Adds the content of a raw block as text.
    fn raw(&mut self, tag: &Tag<'s>, argument: TagContent<'s>, lexer: &mut Lexer<'s>) -> Result<(), ParseError> {
        if !argument.text.is_empty() {
            return Err(ParseError::unexpected(argument.offset, "}} after raw", argument.text));
        }
        let (text, close) = lexer.raw().ok_or_else(|| unclosed("raw", tag.start))?;
        if let Some(Token::Text(text)) = text {
            self.text(text);
        }
        self.trim_around(&close);
        Ok(())
    }

    fn switch(&mut self, tag: &Tag<'_>, content: TagContent<'_>) -> Result<(), ParseError> {
        let frame = match self.frames.last_mut() {
            None => {
                return Err(ParseError::unexpected(
                    tag.start,
                    "an open block for this {{else}}",
                    self.tag_text(tag),
                ));
            }
            Some(frame) if matches!(frame.part, Part::Otherwise) => {
                let expected = format!("{{{{/{}}}}} after the last {{{{else}}}} of the block", frame.keyword);
                return Err(ParseError::unexpected(tag.start, expected, self.tag_text(tag)));
            }
            Some(frame) => frame,
        };
        let next = match content.split_word() {
            ("", _) => Part::Otherwise,
            ("if", argument) => Part::Arm(condition(argument, false)?),
            ("unless", argument) => Part::Arm(condition(argument, true)?),
            _ => {
                return Err(ParseError::unexpected(
                    content.offset,
                    "}}, if or unless after else",
                    content.text,
                ));
            }
        };
        frame.switch(next, std::mem::take(&mut self.nodes).into());
        Ok(())
    }

    fn close(&mut self, tag: &Tag<'_>, content: TagContent<'_>) -> Result<(), ParseError> {
        let frame = match self.frames.pop() {
            Some(frame) if frame.keyword == content.text => frame,
            Some(frame) => {
                let line = self.source[..frame.offset].matches('\n').count() + 1;
                let expected = format!("{{{{/{0}}}}} to close the {{{{#{0}}}}} on line {line}", frame.keyword);
                return Err(ParseError::unexpected(tag.start, expected, self.tag_text(tag)));
            }
            None => {
                return Err(ParseError::unexpected(
                    tag.start,
                    "an open block to close",
                    self.tag_text(tag),
                ));
            }
        };
        let body = std::mem::take(&mut self.nodes);
        self.nodes = frame.close(body.into());
        Ok(())
    }

    fn include(&mut self, tag: &Tag<'_>, content: TagContent<'_>, indent: &str) -> Result<(), ParseError> {
        let (name, rest) = content.split_word();
        if !is_template_name(name) {
            return Err(ParseError::unexpected(
                content.offset,
                "the name of a partial",
                content.text,
            ));
        }
        if !rest.text.is_empty() {
            return Err(ParseError::unexpected(
                rest.offset,
                "}} (partials take no arguments: they see all names in scope)",
                rest.text,
            ));
        }
        let depth = self.frames.len();
        self.nodes.push(Node::Include(Box::new(Include {
            name: name.into(),
            indent: indent.into(),
            depth,
            offset: tag.start,
        })));
        Ok(())
    }

    fn tag_text(&self, tag: &Tag<'_>) -> &'s str {
        &self.source[tag.start..tag.end]
    }
}

fn condition(content: TagContent<'_>, negated: bool) -> Result<Condition, ParseError> {
    Ok(Condition {
        path: Path::parse(content)?,
        negated,
    })
}

fn unclosed(keyword: &str, offset: usize) -> ParseError {
    ParseError::syntax(
        offset,
        format!("{{{{/{keyword}}}}} to close {{{{#{keyword}}}}}"),
        "the end of the template",
    )
}
