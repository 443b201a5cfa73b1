//! [`FrontMatter`]: the YAML at the beginning of a file.

use saphyr_parser::{Event, Parser, StrInput};
use serde_json::{Map, Value as Json};

use agcore_chat::Timestamp;

use crate::{
    error::{MemoryError, MemoryErrorKind},
    knowledge::page::{KnowledgePage, normalized_tag},
};

/// The maximum size of front matter, in bytes.
const MAX_BYTES: usize = 2 << 20;

/// The members of the front matter that are known.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) id: Option<String>,
    pub(super) title: Option<String>,
    pub(super) summary: Option<String>,
    pub(super) tags: Vec<String>,
    pub(super) references: Vec<String>,
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
}

/// The value of a member.
enum Value {
    Text(String),
    /// Nothing is written after the colon.
    Nothing,
    Texts(Vec<String>),
    /// A structure that no known member has.
    Other,
}

impl From<Json> for Value {
    fn from(value: Json) -> Self {
        match value {
            Json::Null => Self::Nothing,
            Json::String(text) => Self::Text(text),
            Json::Bool(_) | Json::Number(_) => Self::Text(value.to_string()),
            Json::Array(items) => {
                let texts = items.into_iter().map(|item| match Self::from(item) {
                    Self::Text(text) => Some(text),
                    _ => None,
                });
                texts.collect::<Option<Vec<_>>>().map_or(Self::Other, Self::Texts)
            }
            Json::Object(_) => Self::Other,
        }
    }
}

impl FrontMatter {
    /// Reads the text between the lines with `---`.
    pub(super) fn parse(text: &str) -> Result<Self, MemoryError> {
        let mut front = Self::default();
        if text.trim().is_empty() {
            return Ok(front);
        }
        if text.len() > MAX_BYTES {
            return Err(MemoryError::invalid(format!(
                "the front matter has {} bytes; at most {MAX_BYTES} are allowed",
                text.len()
            )));
        }
        let mut known = Vec::new();
        for (name, value) in members(text)? {
            if known.contains(&name) {
                return Err(MemoryError::invalid(format!("the front matter has `{name}` twice")));
            }
            front.set(&name, value)?;
            known.push(name);
        }
        Ok(front)
    }

    /// Reads the members of TOML.
    pub(super) fn of_json(members: Map<String, Json>) -> Result<Self, MemoryError> {
        let mut front = Self::default();
        for (name, value) in members {
            front.set(&name, value.into())?;
        }
        Ok(front)
    }

    fn set(&mut self, name: &str, value: Value) -> Result<(), MemoryError> {
        match name {
            "id" => self.id = text(name, value)?,
            "title" => self.title = text(name, value)?,
            "summary" => self.summary = text(name, value)?,
            "tags" => {
                let tags = texts(name, value, ',')?;
                self.tags = tags.iter().map(|tag| normalized_tag(tag)).collect();
            }
            "references" => self.references = texts(name, value, '\n')?,
            "created_at" => self.created_at = text(name, value)?.map(|text| time(name, &text)).transpose()?,
            "updated_at" => self.updated_at = text(name, value)?.map(|text| time(name, &text)).transpose()?,
            _ => {}
        }
        Ok(())
    }
}

fn text(name: &str, value: Value) -> Result<Option<String>, MemoryError> {
    match value {
        Value::Text(text) => Ok(Some(text)),
        Value::Nothing => Ok(None),
        Value::Texts(_) | Value::Other => Err(MemoryError::invalid(format!(
            "`{name}` in the front matter is not a text"
        ))),
    }
}

/// Returns a list. It may also be written as one text with separators.
fn texts(name: &str, value: Value, separator: char) -> Result<Vec<String>, MemoryError> {
    match value {
        Value::Texts(texts) => Ok(texts),
        Value::Nothing => Ok(Vec::new()),
        Value::Text(text) => {
            let texts = text.split(separator).map(str::trim);
            Ok(texts.filter(|text| !text.is_empty()).map(str::to_owned).collect())
        }
        Value::Other => Err(MemoryError::invalid(format!(
            "`{name}` in the front matter is not a list of texts"
        ))),
    }
}

/// Reads a time of the front matter.
fn time(name: &str, text: &str) -> Result<Timestamp, MemoryError> {
    text.parse().map_err(|error| {
        let example = "2026-01-31T12:00:00Z";
        MemoryError::with_source(
            MemoryErrorKind::InvalidInput,
            format!("`{name}` in the front matter is not a time such as {example}"),
            error,
        )
    })
}

/// Reads the members of the outermost mapping.
fn members(text: &str) -> Result<Vec<(String, Value)>, MemoryError> {
    let mut events = Events(Parser::new_from_str(text));
    let mut members = Vec::new();
    loop {
        match events.next()? {
            Event::MappingStart(..) => break,
            Event::StreamStart | Event::DocumentStart(_) | Event::Nothing => {}
            // Only comments.
            Event::StreamEnd => return Ok(members),
            _ => return Err(not_members()),
        }
    }
    loop {
        match events.next()? {
            Event::MappingEnd => break,
            Event::Scalar(name, ..) => {
                let value = events.value()?;
                members.push((name.into_owned(), value));
            }
            _ => return Err(not_members()),
        }
    }
    loop {
        match events.next()? {
            Event::StreamEnd => return Ok(members),
            Event::DocumentEnd | Event::Nothing => {}
            _ => return Err(not_members()),
        }
    }
}

fn not_members() -> MemoryError {
    MemoryError::invalid("the front matter is not a list of members, such as `title: Tea`")
}

/// The events of the parser.
struct Events<'t>(Parser<'t, StrInput<'t>>);

impl<'t> Events<'t> {
    fn next(&mut self) -> Result<Event<'t>, MemoryError> {
        match self.0.next_event() {
            Some(Ok((Event::Alias(_), span))) => Err(MemoryError::invalid(format!(
                "the front matter has an alias (`*`) in line {}, which is not supported: repeat the value",
                span.start.line() + 1
            ))),
            Some(Ok((event, _))) => Ok(event),
            Some(Err(error)) => {
                // The first line of the file is `---`.
                let line = error.marker().line() + 1;
                Err(MemoryError::invalid(format!(
                    "the front matter is not YAML: line {line}: {}",
                    error.info()
                )))
            }
            None => Ok(Event::StreamEnd),
        }
    }

    /// Reads the value of a member.
    fn value(&mut self) -> Result<Value, MemoryError> {
        match self.next()? {
            Event::Scalar(text, style, ..) => {
                let is_plain = style == saphyr_parser::ScalarStyle::Plain;
                Ok(match &*text {
                    "" | "~" | "null" if is_plain => Value::Nothing,
                    _ => Value::Text(text.into_owned()),
                })
            }
            Event::SequenceStart(..) => self.sequence(),
            Event::MappingStart(..) => {
                self.skip(1)?;
                Ok(Value::Other)
            }
            _ => Err(not_members()),
        }
    }

    fn sequence(&mut self) -> Result<Value, MemoryError> {
        let mut texts = Vec::new();
        loop {
            match self.next()? {
                Event::Scalar(text, ..) => texts.push(text.into_owned()),
                Event::SequenceEnd => return Ok(Value::Texts(texts)),
                Event::SequenceStart(..) | Event::MappingStart(..) => {
                    self.skip(2)?;
                    return Ok(Value::Other);
                }
                _ => return Err(not_members()),
            }
        }
    }

    /// Skips the rest of a structure that is this deep.
    fn skip(&mut self, mut depth: usize) -> Result<(), MemoryError> {
        while depth > 0 {
            match self.next()? {
                Event::SequenceStart(..) | Event::MappingStart(..) => depth += 1,
                Event::SequenceEnd | Event::MappingEnd => depth -= 1,
                Event::StreamEnd => return Err(not_members()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Writes the members of a page.
pub(super) fn write(page: &KnowledgePage, text: &mut String) {
    let mut member = |name: &str, value: &str| {
        text.push_str(name);
        text.push_str(": ");
        text.push_str(value);
        text.push('\n');
    };
    member("id", &scalar(&page.id));
    member("title", &scalar(&page.title));
    if !page.summary.is_empty() {
        member("summary", &scalar(&page.summary));
    }
    if !page.tags.is_empty() {
        member("tags", &list(&page.tags));
    }
    if !page.references.is_empty() {
        member("references", &list(&page.references));
    }
    for (name, time) in [("created_at", page.created_at), ("updated_at", page.updated_at)] {
        if time != Timestamp::default() {
            member(name, &time.to_string());
        }
    }
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| scalar(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// Returns a text as YAML: as it is if no program could take it for something else, or in quotes.
fn scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_alphabetic())
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '/' | '.' | '-'))
        && !text.ends_with([' ', '-'])
        && !text.contains(" -")
        && !text.contains("- ")
        && !is_word_of_yaml(text);
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => escape(character, &mut quoted),
            character if character.is_control() => escape(character, &mut quoted),
            character => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

fn escape(character: char, quoted: &mut String) {
    quoted.push_str(&format!("\\u{:04X}", u32::from(character)));
}

/// Returns whether YAML programs take this text for something else than a text.
fn is_word_of_yaml(text: &str) -> bool {
    let lower = text.to_lowercase();
    matches!(
        lower.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    )
}
