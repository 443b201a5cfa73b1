//! Source to nodes.
//!
//! One pass over the lexer's pieces with the open blocks on a stack of its own: nothing here recurses.

use super::{
    depth::MAX_DEPTH,
    fault::Fault,
    frame::{Frame, Part},
    lexer::{Lexer, Piece, Tag, TagKind, Words},
    node::{Block, Condition, Include, Node},
    path::{Path, is_template_name},
    space::{Trim, trims},
};

/// A template's source as nodes.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) nodes: Block,
    /// How deep blocks are nested.
    pub(super) depth: usize,
}

/// Compiles a source.
pub(super) fn parse(source: &str) -> Result<Program, Fault> {
    let mut parser = Parser {
        source,
        nodes: Vec::new(),
        frames: Vec::new(),
        trim: Trim::None,
        text: "",
        depth: 0,
    };
    let mut lexer = Lexer::new(source);
    while let Some(piece) = lexer.next()? {
        match piece {
            Piece::Text(text) => parser.text(text),
            Piece::Tag(tag) => parser.tag(&tag, &mut lexer)?,
        }
    }
    parser.push_text(parser.text);
    match parser.frames.last() {
        None => Ok(Program {
            nodes: parser.nodes.into(),
            depth: parser.depth,
        }),
        Some(open) => Err(unclosed(open.keyword, open.at)),
    }
}

struct Parser<'s> {
    source: &'s str,
    /// The nodes of the innermost open block.
    nodes: Vec<Node>,
    frames: Vec<Frame>,
    /// What the latest tag leaves out of the text behind it.
    trim: Trim,
    /// Text of which the next tag may leave something out.
    text: &'s str,
    depth: usize,
}

impl<'s> Parser<'s> {
    fn text(&mut self, text: &'s str) {
        let text = std::mem::take(&mut self.trim).start(text);
        let before = std::mem::replace(&mut self.text, text);
        self.push_text(before);
    }

    fn tag(&mut self, tag: &Tag<'s>, lexer: &mut Lexer<'s>) -> Result<(), Fault> {
        let blanks = self.trim_around(tag);
        match tag.kind {
            TagKind::Comment => Ok(()),
            TagKind::Print(words) => {
                self.nodes.push(Node::Print(Path::parse(words)?));
                Ok(())
            }
            TagKind::Open(words) => self.open(tag, words, lexer),
            TagKind::Else(words) => self.switch(tag, words),
            TagKind::Close(words) => self.close(tag, words),
            TagKind::Include(words) => self.include(tag, words, blanks),
        }
    }

    /// Leaves out what the tag trims; gives back the blanks before a tag that is alone on its line.
    fn trim_around(&mut self, tag: &Tag<'_>) -> &'s str {
        let (before, behind) = trims(self.source, tag);
        self.trim = behind;
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

    fn open(&mut self, tag: &Tag<'s>, words: Words<'s>, lexer: &mut Lexer<'s>) -> Result<(), Fault> {
        let (name, argument) = words.split();
        let (keyword, part) = match name {
            "if" => ("if", Part::Arm(condition(argument, false)?)),
            "unless" => ("unless", Part::Arm(condition(argument, true)?)),
            "each" => ("each", Part::Loop(Path::parse(argument)?)),
            "raw" => ("raw", Part::Otherwise),
            _ => {
                return Err(Fault::unexpected(
                    words.at,
                    "the block if, unless, each or raw",
                    words.text,
                ));
            }
        };
        if self.frames.len() == MAX_DEPTH {
            return Err(Fault::depth(tag.start, MAX_DEPTH));
        }
        self.depth = self.depth.max(self.frames.len() + 1);
        if keyword == "raw" {
            return self.raw(tag, argument, lexer);
        }
        self.frames
            .push(Frame::new(keyword, part, tag.start, std::mem::take(&mut self.nodes)));
        Ok(())
    }

    /// Takes over all up to the end of a raw block.
    fn raw(&mut self, tag: &Tag<'s>, argument: Words<'s>, lexer: &mut Lexer<'s>) -> Result<(), Fault> {
        if !argument.text.is_empty() {
            return Err(Fault::unexpected(argument.at, "}} after raw", argument.text));
        }
        let (text, close) = lexer.raw().ok_or_else(|| unclosed("raw", tag.start))?;
        if let Some(Piece::Text(text)) = text {
            self.text(text);
        }
        self.trim_around(&close);
        Ok(())
    }

    fn switch(&mut self, tag: &Tag<'_>, words: Words<'_>) -> Result<(), Fault> {
        let frame = match self.frames.last_mut() {
            None => {
                return Err(Fault::unexpected(
                    tag.start,
                    "an open block around else",
                    self.tag_text(tag),
                ));
            }
            Some(frame) if matches!(frame.part, Part::Otherwise) => {
                let expected = format!("{{{{/{}}}}} behind the block's last else", frame.keyword);
                return Err(Fault::unexpected(tag.start, expected, self.tag_text(tag)));
            }
            Some(frame) => frame,
        };
        let next = match words.split() {
            ("", _) => Part::Otherwise,
            ("if", argument) => Part::Arm(condition(argument, false)?),
            ("unless", argument) => Part::Arm(condition(argument, true)?),
            _ => {
                return Err(Fault::unexpected(words.at, "}}, if or unless after else", words.text));
            }
        };
        frame.switch(next, std::mem::take(&mut self.nodes).into());
        Ok(())
    }

    fn close(&mut self, tag: &Tag<'_>, words: Words<'_>) -> Result<(), Fault> {
        let frame = match self.frames.pop() {
            Some(frame) if frame.keyword == words.text => frame,
            Some(frame) => {
                let line = self.source[..frame.at].matches('\n').count() + 1;
                let expected = format!("{{{{/{0}}}}} to close {{{{#{0}}}}} of line {line}", frame.keyword);
                return Err(Fault::unexpected(tag.start, expected, self.tag_text(tag)));
            }
            None => {
                return Err(Fault::unexpected(
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

    fn include(&mut self, tag: &Tag<'_>, words: Words<'_>, indent: &str) -> Result<(), Fault> {
        let (name, rest) = words.split();
        if !is_template_name(name) {
            return Err(Fault::unexpected(words.at, "the name of a partial", words.text));
        }
        if !rest.text.is_empty() {
            return Err(Fault::unexpected(
                rest.at,
                "}} (a partial sees what is around it)",
                rest.text,
            ));
        }
        let depth = self.frames.len();
        self.nodes.push(Node::Include(Box::new(Include {
            name: name.into(),
            indent: indent.into(),
            depth,
            at: tag.start,
        })));
        Ok(())
    }

    fn tag_text(&self, tag: &Tag<'_>) -> &'s str {
        &self.source[tag.start..tag.end]
    }
}

fn condition(words: Words<'_>, negated: bool) -> Result<Condition, Fault> {
    Ok(Condition {
        path: Path::parse(words)?,
        negated,
    })
}

fn unclosed(keyword: &str, at: usize) -> Fault {
    Fault::syntax(
        at,
        format!("{{{{/{keyword}}}}} to close {{{{#{keyword}}}}}"),
        "the end of the template",
    )
}
