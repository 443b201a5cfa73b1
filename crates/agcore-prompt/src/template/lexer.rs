//! [`Lexer`]: a template's source as text and tags.

use super::fault::Fault;

const OPEN: &str = "{{";
const CLOSE: &str = "}}";

/// A piece of a template.
#[derive(Debug)]
pub(super) enum Piece<'s> {
    Text(&'s str),
    Tag(Tag<'s>),
}

/// `{{ … }}`.
#[derive(Debug)]
pub(super) struct Tag<'s> {
    pub(super) kind: TagKind<'s>,
    /// Where the tag's braces begin and end.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Whether `~` trims the text before.
    pub(super) trims_before: bool,
    /// Whether `~` trims the text behind.
    pub(super) trims_after: bool,
}

/// What a tag is, with what stands behind the sign that says so.
#[derive(Clone, Copy, Debug)]
pub(super) enum TagKind<'s> {
    /// `{{! … }}`
    Comment,
    /// `{{name}}`
    Print(Words<'s>),
    /// `{{#block …}}`
    Open(Words<'s>),
    /// `{{else …}}`
    Else(Words<'s>),
    /// `{{/block}}`
    Close(Words<'s>),
    /// `{{> partial}}`
    Include(Words<'s>),
}

/// The inside of a tag without the blanks around it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words<'s> {
    pub(super) text: &'s str,
    /// Where it stands in the source.
    pub(super) at: usize,
}

impl<'s> Words<'s> {
    pub(super) fn new(text: &'s str, at: usize) -> Self {
        let trimmed = text.trim_start();
        Self {
            at: at + text.len() - trimmed.len(),
            text: trimmed.trim_end(),
        }
    }

    /// The words from this byte on.
    fn behind(self, bytes: usize) -> Self {
        Self::new(&self.text[bytes..], self.at + bytes)
    }

    /// The first word and what follows it.
    pub(super) fn split(self) -> (&'s str, Self) {
        let end = self.text.find(char::is_whitespace).unwrap_or(self.text.len());
        (&self.text[..end], self.behind(end))
    }
}

/// Cuts a source into text and tags.
#[derive(Debug)]
pub(super) struct Lexer<'s> {
    source: &'s str,
    /// The end of what was told.
    at: usize,
    /// Where the next tag is looked for: behind the braces of an escaped one.
    tags_from: usize,
}

impl<'s> Lexer<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            tags_from: 0,
        }
    }

    /// The next piece; `None` at the end of the source.
    ///
    /// Pieces of text can follow each other where a tag is escaped; no text is empty.
    pub(super) fn next(&mut self) -> Result<Option<Piece<'s>>, Fault> {
        while let Some(braces) = self.find_braces() {
            let text = &self.source[self.at..braces];
            let backslashes = text.len() - text.trim_end_matches('\\').len();
            if backslashes == 0 {
                let text = self.text(braces);
                return if text.is_some() {
                    Ok(text)
                } else {
                    self.tag().map(|tag| Some(Piece::Tag(tag)))
                };
            }
            // A single backslash escapes the tag, the last of several stands for itself; either way one is dropped.
            let text = self.text(braces - 1);
            self.at = braces;
            self.tags_from = if backslashes == 1 { braces + OPEN.len() } else { braces };
            if text.is_some() {
                return Ok(text);
            }
        }
        Ok(self.text(self.source.len()))
    }

    /// The text up to the tag that closes a raw block, in which nothing else has a meaning, and that tag.
    pub(super) fn raw(&mut self) -> Option<(Option<Piece<'s>>, Tag<'s>)> {
        let from = self.at;
        let closing = self.source[from..]
            .match_indices('{')
            .find_map(|(braces, _)| raw_close(self.source, from + braces));
        closing.map(|tag| {
            let text = self.text(tag.start);
            self.resume(tag.end);
            (text, tag)
        })
    }

    fn find_braces(&self) -> Option<usize> {
        self.source[self.tags_from..].find(OPEN).map(|at| self.tags_from + at)
    }

    fn resume(&mut self, at: usize) {
        self.at = at;
        self.tags_from = at;
    }

    /// The text up to here, if there is any.
    fn text(&mut self, end: usize) -> Option<Piece<'s>> {
        let text = (end > self.at).then(|| Piece::Text(&self.source[self.at..end]));
        self.resume(end);
        text
    }

    /// The tag whose braces open here.
    fn tag(&mut self) -> Result<Tag<'s>, Fault> {
        let start = self.at;
        let inside = &self.source[start + OPEN.len()..];
        let (inside, trims_before) = without_tilde(inside);
        let at = self.source.len() - inside.len();
        let (body, end) = body(inside).map_err(|close| {
            let name = if inside.starts_with('!') {
                "the comment"
            } else {
                "the tag"
            };
            Fault::syntax(start, format!("{close} to close {name}"), "the end of the template")
        })?;
        let trims_after = body.ends_with('~');
        let words = Words::new(body.strip_suffix('~').unwrap_or(body), at);
        let tag = Tag {
            kind: kind(words)?,
            start,
            end: at + end,
            trims_before,
            trims_after,
        };
        self.resume(tag.end);
        Ok(tag)
    }
}

fn without_tilde(text: &str) -> (&str, bool) {
    text.strip_prefix('~').map_or((text, false), |rest| (rest, true))
}

/// What stands before the braces that close a tag, and where these end; else the sign that is missing.
fn body(inside: &str) -> Result<(&str, usize), &'static str> {
    let mut ends = inside.match_indices(CLOSE).map(|(end, _)| end);
    let end = match inside.strip_prefix("!--") {
        None => ends.next().ok_or(CLOSE)?,
        // A comment that opens with dashes ends with dashes, and may hold tags.
        Some(comment) => {
            let opening = inside.len() - comment.len();
            let closes = |end: &usize| {
                let said = inside.get(opening..*end).unwrap_or_default();
                said.strip_suffix('~').unwrap_or(said).ends_with("--")
            };
            ends.find(closes).ok_or("--}}")?
        }
    };
    Ok((&inside[..end], end + CLOSE.len()))
}

fn kind(words: Words<'_>) -> Result<TagKind<'_>, Fault> {
    if words.text.starts_with('!') {
        return Ok(TagKind::Comment);
    }
    if let Some(nested) = words.text.find(OPEN) {
        return Err(Fault::unexpected(
            words.at + nested,
            "}} to close the tag",
            &words.text[nested..],
        ));
    }
    Ok(match words.text.as_bytes().first() {
        Some(b'#') => TagKind::Open(words.behind(1)),
        Some(b'/') => TagKind::Close(words.behind(1)),
        Some(b'>') => TagKind::Include(words.behind(1)),
        _ => match words.split() {
            ("else", condition) => TagKind::Else(condition),
            _ => TagKind::Print(words),
        },
    })
}

/// The tag that closes a raw block, if its braces open here. Looks at the tag alone, never further.
fn raw_close(source: &str, start: usize) -> Option<Tag<'_>> {
    let (inside, trims_before) = without_tilde(source[start..].strip_prefix(OPEN)?);
    let name = inside.trim_start().strip_prefix('/')?.trim_start();
    let (behind, trims_after) = without_tilde(name.strip_prefix("raw")?.trim_start());
    let end = source.len() - behind.strip_prefix(CLOSE)?.len();
    let words = Words {
        text: "raw",
        at: source.len() - name.len(),
    };
    Some(Tag {
        kind: TagKind::Close(words),
        start,
        end,
        trims_before,
        trims_after,
    })
}
