//! [`Lexer`]: splits the source of a template into text and tags.

use super::parse_error::ParseError;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// A token of a template.
#[derive(Debug)]
pub(super) enum Token<'s> {
    Text(&'s str),
    Tag(Tag<'s>),
}

/// A tag, `{{ … }}`.
#[derive(Debug)]
pub(super) struct Tag<'s> {
    pub(super) kind: TagKind<'s>,
    /// The byte offsets of the opening braces and of the end of the closing braces.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether `~` trims the text before the tag.
    pub(super) trims_before: bool,
    /// Whether `~` trims the text after the tag.
    pub(super) trims_after: bool,
}

/// The kind of a tag, with the content after the character that marks the kind.
#[derive(Clone, Copy, Debug)]
pub(super) enum TagKind<'s> {
    /// `{{! … }}`
    Comment,
    /// `{{name}}`
    Print(TagContent<'s>),
    /// `{{#block …}}`
    Open(TagContent<'s>),
    /// `{{else …}}`
    Else(TagContent<'s>),
    /// `{{/block}}`
    Close(TagContent<'s>),
    /// `{{> partial}}`
    Include(TagContent<'s>),
}

/// The content of a tag, without surrounding whitespace.
#[derive(Clone, Copy, Debug)]
pub(super) struct TagContent<'s> {
    pub(super) text: &'s str,
    /// The byte offset of the text in the source.
    pub(super) offset: usize,
}

impl<'s> TagContent<'s> {
    pub(super) fn new(text: &'s str, offset: usize) -> Self {
        let trimmed = text.trim_start();
        Self {
            offset: offset + text.len() - trimmed.len(),
            text: trimmed.trim_end(),
        }
    }

    /// Returns the content after the first `bytes` bytes.
    fn skip(self, bytes: usize) -> Self {
        Self::new(&self.text[bytes..], self.offset + bytes)
    }

    /// Splits off the first word.
    pub(super) fn split_word(self) -> (&'s str, Self) {
        let end = self.text.find(char::is_whitespace).unwrap_or(self.text.len());
        (&self.text[..end], self.skip(end))
    }
}

/// Splits a source into text and tags.
#[derive(Debug)]
pub(super) struct Lexer<'s> {
    source: &'s str,
    /// The byte offset of the first byte that has not been returned yet.
    offset: usize,
    /// The byte offset from which the next tag is searched. It is past the braces of an escaped tag.
    search_from: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            offset: 0,
            search_from: 0,
        }
    }

    /// Returns the next token, or `None` at the end of the source.
    ///
    /// Text is never empty. Two text tokens can follow each other around an escaped tag.
    pub(super) fn next(&mut self) -> Result<Option<Token<'s>>, ParseError> {
        while let Some(braces) = self.find_braces() {
            let text = &self.source[self.offset..braces];
            let backslashes = text.len() - text.trim_end_matches('\\').len();
            if backslashes == 0 {
                let text = self.text(braces);
                return if text.is_some() {
                    Ok(text)
                } else {
                    self.tag().map(|tag| Some(Token::Tag(tag)))
                };
            }
            // One backslash escapes the tag. The last of several escapes the one before it. Either way one is dropped.
            let text = self.text(braces - 1);
            self.offset = braces;
            self.search_from = if backslashes == 1 { braces + OPEN.len() } else { braces };
            if text.is_some() {
                return Ok(text);
            }
        }
        Ok(self.text(self.source.len()))
    }

    /// Returns the verbatim text of a raw block and its closing tag, or `None` if there is no closing tag.
    pub(super) fn raw(&mut self) -> Option<(Option<Token<'s>>, Tag<'s>)> {
        let from = self.offset;
        let closing = self.source[from..]
            .match_indices('{')
            .find_map(|(braces, _)| raw_close(self.source, from + braces));
        closing.map(|tag| {
            let text = self.text(tag.start);
            self.advance_to(tag.end);
            (text, tag)
        })
    }

    fn find_braces(&self) -> Option<usize> {
        self.source[self.search_from..]
            .find(OPEN)
            .map(|index| self.search_from + index)
    }

    fn advance_to(&mut self, offset: usize) {
        self.offset = offset;
        self.search_from = offset;
    }

    /// Consumes the text up to `end` and returns it unless it is empty.
    fn text(&mut self, end: usize) -> Option<Token<'s>> {
        let text = (end > self.offset).then(|| Token::Text(&self.source[self.offset..end]));
        self.advance_to(end);
        text
    }

    /// Consumes the tag at the current offset.
    fn tag(&mut self) -> Result<Tag<'s>, ParseError> {
        let start = self.offset;
        let inside = &self.source[start + OPEN.len()..];
        let (inside, trims_before) = without_tilde(inside);
        let offset = self.source.len() - inside.len();
        let (body, end) = split_body(inside).map_err(|close| {
            let name = if inside.starts_with('!') {
                "the comment"
            } else {
                "the tag"
            };
            ParseError::syntax(start, format!("{close} to close {name}"), "the end of the template")
        })?;
        let trims_after = body.ends_with('~');
        let content = TagContent::new(body.strip_suffix('~').unwrap_or(body), offset);
        let tag = Tag {
            kind: kind(content)?,
            start,
            end: offset + end,
            trims_before,
            trims_after,
        };
        self.advance_to(tag.end);
        Ok(tag)
    }
}

fn without_tilde(text: &str) -> (&str, bool) {
    text.strip_prefix('~').map_or((text, false), |rest| (rest, true))
}

/// Returns the text before the closing braces of a tag and the offset of their end, or the missing delimiter.
fn split_body(inside: &str) -> Result<(&str, usize), &'static str> {
    let mut ends = inside.match_indices(CLOSE).map(|(end, _)| end);
    let end = match inside.strip_prefix("!--") {
        None => ends.next().ok_or(CLOSE)?,
        // A comment that starts with dashes ends with dashes and may contain tags.
        Some(comment) => {
            let opening = inside.len() - comment.len();
            let closes = |end: &usize| {
                let text = inside.get(opening..*end).unwrap_or_default();
                text.strip_suffix('~').unwrap_or(text).ends_with("--")
            };
            ends.find(closes).ok_or("--}}")?
        }
    };
    Ok((&inside[..end], end + CLOSE.len()))
}

fn kind(content: TagContent<'_>) -> Result<TagKind<'_>, ParseError> {
    if content.text.starts_with('!') {
        return Ok(TagKind::Comment);
    }
    if let Some(nested) = content.text.find(OPEN) {
        return Err(ParseError::unexpected(
            content.offset + nested,
            "}} to close the tag",
            &content.text[nested..],
        ));
    }
    Ok(match content.text.as_bytes().first() {
        Some(b'#') => TagKind::Open(content.skip(1)),
        Some(b'/') => TagKind::Close(content.skip(1)),
        Some(b'>') => TagKind::Include(content.skip(1)),
        _ => match content.split_word() {
            ("else", condition) => TagKind::Else(condition),
            _ => TagKind::Print(content),
        },
    })
}

/// Returns the closing tag of a raw block if it starts here. Never reads past the tag, so a scan over the whole block
/// stays linear.
fn raw_close(source: &str, start: usize) -> Option<Tag<'_>> {
    let (inside, trims_before) = without_tilde(source[start..].strip_prefix(OPEN)?);
    let name = inside.trim_start().strip_prefix('/')?.trim_start();
    let (rest, trims_after) = without_tilde(name.strip_prefix("raw")?.trim_start());
    let end = source.len() - rest.strip_prefix(CLOSE)?.len();
    let content = TagContent {
        text: "raw",
        offset: source.len() - name.len(),
    };
    Some(Tag {
        kind: TagKind::Close(content),
        start,
        end,
        trims_before,
        trims_after,
    })
}
