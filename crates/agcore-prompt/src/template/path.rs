//! [`Path`]: a reference to a value.

use super::{lexer::TagContent, parse_error::ParseError};
use crate::value::Segment;

/// A reference to a value, such as `user.name`.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) base: Base,
    /// The segments to resolve in the base, one after the other.
    pub(super) segments: Box<[Segment]>,
    /// The byte offset of the path in the source.
    pub(super) offset: usize,
}

/// The value at which the resolution of a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The element of the innermost loop, then the enclosing scopes.
    Name,
    /// `this`: the element of the innermost loop, or the whole context.
    This,
    /// `@index`: the zero-based index of the element.
    Index,
    /// `@first`: whether it is the first element.
    First,
    /// `@last`: whether it is the last element.
    Last,
    /// `@key`: the name of the field, or the index of the element.
    Key,
}

impl Path {
    /// Parses content that consists of a single path.
    pub(super) fn parse(content: TagContent<'_>) -> Result<Self, ParseError> {
        let offset = content.offset;
        if let Some(loop_variable) = content.text.strip_prefix('@') {
            return Ok(Self {
                base: Base::from_loop_variable(loop_variable, content)?,
                segments: Box::default(),
                offset,
            });
        }
        let mut segments = Vec::with_capacity(1 + content.text.matches('.').count());
        let mut segment_offset = content.offset;
        for segment in content.text.split('.') {
            check_segment(segment, segment_offset, content)?;
            segments.push(segment);
            segment_offset += segment.len() + 1;
        }
        let base = if segments[0] == "this" { Base::This } else { Base::Name };
        let from = usize::from(base == Base::This);
        Ok(Self {
            base,
            segments: segments[from..].iter().map(|name| Segment::new(name)).collect(),
            offset,
        })
    }

    /// Returns the path as written in the template.
    pub(super) fn text(&self) -> String {
        let names: Vec<&str> = self.segments.iter().map(Segment::name).collect();
        match (self.base, names.as_slice()) {
            (Base::This, []) => "this".to_owned(),
            (Base::This, names) => format!("this.{}", names.join(".")),
            (Base::Name, names) => names.join("."),
            (Base::Index, _) => "@index".to_owned(),
            (Base::First, _) => "@first".to_owned(),
            (Base::Last, _) => "@last".to_owned(),
            (Base::Key, _) => "@key".to_owned(),
        }
    }
}

impl Base {
    fn from_loop_variable(name: &str, content: TagContent<'_>) -> Result<Self, ParseError> {
        match name {
            "index" => Ok(Self::Index),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            "key" => Ok(Self::Key),
            _ => Err(ParseError::unexpected(
                content.offset,
                "@index, @first, @last or @key",
                content.text,
            )),
        }
    }
}

fn check_segment(segment: &str, offset: usize, content: TagContent<'_>) -> Result<(), ParseError> {
    let expected = match segment.char_indices().find(|(_, character)| !is_name_char(*character)) {
        None if !segment.is_empty() => return Ok(()),
        None if content.text.starts_with("..") => "a name (outer names are visible without ../)",
        None => "a name",
        Some((0, '{')) => "a name (nothing is escaped, so {{name}} is enough; write \\{{ for literal braces)",
        Some((_, character)) if character.is_whitespace() => "a single name (helpers are not supported)",
        Some(_) => "a name",
    };
    let rest = &content.text[offset - content.offset..];
    Err(ParseError::unexpected(offset, expected, rest))
}

/// Returns whether variable names may contain this character: anything but whitespace, control characters and the
/// characters that Handlebars reserves (<https://handlebarsjs.com/guide/expressions.html#literal-segments>).
fn is_name_char(character: char) -> bool {
    let reserved = matches!(
        character,
        '!' | '"' | '#' | '%'..=',' | '.' | '/' | ';'..='>' | '@' | '['..='^' | '`' | '{'..='~'
    );
    !reserved && !character.is_whitespace() && !character.is_control()
}

/// Returns whether this is a valid name for a template.
pub(crate) fn is_template_name(name: &str) -> bool {
    let allowed = |character: char| is_name_char(character) || matches!(character, '.' | '/' | '@');
    !name.is_empty() && name.chars().all(allowed)
}
