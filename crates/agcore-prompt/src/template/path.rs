//! [`Path`]: how a template names a value.

use super::{fault::Fault, lexer::Words};
use crate::value::Segment;

/// How a template names a value.
#[derive(Debug)]
pub(super) struct Path {
    pub(super) base: Base,
    /// What is looked for in the base, step by step.
    pub(super) segments: Box<[Segment]>,
    /// Where the path stands in the source.
    pub(super) at: usize,
}

/// Where the first step of a path starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The element of the innermost loop, then what is around it.
    Name,
    /// `this`: the element of the innermost loop, or the whole context.
    This,
    /// `@index`: the number of the element, from 0.
    Index,
    /// `@first`: whether it is the first element.
    First,
    /// `@last`: whether it is the last element.
    Last,
    /// `@key`: the name of the field, or the number of the element.
    Key,
}

impl Path {
    /// Reads a path that is all of the words.
    pub(super) fn parse(words: Words<'_>) -> Result<Self, Fault> {
        let at = words.at;
        if let Some(loop_variable) = words.text.strip_prefix('@') {
            return Ok(Self {
                base: Base::of_loop(loop_variable, words)?,
                segments: Box::default(),
                at,
            });
        }
        let mut segments = Vec::with_capacity(1 + words.text.matches('.').count());
        let mut segment_at = words.at;
        for segment in words.text.split('.') {
            check_segment(segment, segment_at, words)?;
            segments.push(segment);
            segment_at += segment.len() + 1;
        }
        let base = if segments[0] == "this" { Base::This } else { Base::Name };
        let from = usize::from(base == Base::This);
        Ok(Self {
            base,
            segments: segments[from..].iter().map(|name| Segment::new(name)).collect(),
            at,
        })
    }

    /// The path as the template writes it.
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
    fn of_loop(name: &str, words: Words<'_>) -> Result<Self, Fault> {
        match name {
            "index" => Ok(Self::Index),
            "first" => Ok(Self::First),
            "last" => Ok(Self::Last),
            "key" => Ok(Self::Key),
            _ => Err(Fault::unexpected(words.at, "@index, @first, @last or @key", words.text)),
        }
    }
}

fn check_segment(segment: &str, at: usize, words: Words<'_>) -> Result<(), Fault> {
    let expected = match segment.char_indices().find(|(_, character)| !is_name_char(*character)) {
        None if !segment.is_empty() => return Ok(()),
        None if words.text.starts_with("..") => "a name (outer names are visible without ../)",
        None => "a name",
        Some((0, '{')) => "a name (nothing is escaped, {{name}} is enough; \\{{ stands for two braces)",
        Some((_, character)) if character.is_whitespace() => "one name and nothing behind it (there are no helpers)",
        Some(_) => "a name",
    };
    let rest = &words.text[at - words.at..];
    Err(Fault::unexpected(at, expected, rest))
}

/// Whether names of variables may hold this character: everything but blanks and the signs that Handlebars reserves
/// (<https://handlebarsjs.com/guide/expressions.html#literal-segments>).
fn is_name_char(character: char) -> bool {
    let reserved = matches!(
        character,
        '!' | '"' | '#' | '%'..=',' | '.' | '/' | ';'..='>' | '@' | '['..='^' | '`' | '{'..='~'
    );
    !reserved && !character.is_whitespace() && !character.is_control()
}

/// Whether a template may have this name: letters, digits and a few signs.
pub(crate) fn is_template_name(name: &str) -> bool {
    let allowed = |character: char| is_name_char(character) || matches!(character, '.' | '/' | '@');
    !name.is_empty() && name.chars().all(allowed)
}
