//! [`FrontMatter`]: the YAML at the beginning of a file.

use agcore_document::{Node, Value};

use agcore_chat::Timestamp;

use crate::{
    error::{MemoryError, MemoryErrorKind},
    knowledge::page::{KnowledgePage, normalized_tag},
};

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

impl FrontMatter {
    /// Reads the members that are known.
    pub(super) fn of(root: &Node) -> Result<Self, MemoryError> {
        let mut front = Self::default();
        for member in root.members() {
            front.set(&member.name, &member.node.value)?;
        }
        Ok(front)
    }

    fn set(&mut self, name: &str, value: &Value) -> Result<(), MemoryError> {
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

/// Returns a scalar as it is written.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) | Value::Number(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

fn text(name: &str, value: &Value) -> Result<Option<String>, MemoryError> {
    match (value, scalar_text(value)) {
        (Value::Null, _) => Ok(None),
        (_, Some(text)) => Ok(Some(text)),
        _ => Err(MemoryError::invalid(format!(
            "`{name}` in the front matter is not a text"
        ))),
    }
}

/// Returns a list. It may also be written as one text with separators.
fn texts(name: &str, value: &Value, separator: char) -> Result<Vec<String>, MemoryError> {
    let texts = match (value, scalar_text(value)) {
        (Value::Null, _) => Some(Vec::new()),
        (_, Some(text)) => {
            let texts = text.split(separator).map(str::trim);
            Some(texts.filter(|text| !text.is_empty()).map(str::to_owned).collect())
        }
        (Value::List(items), _) => items.iter().map(|item| scalar_text(&item.value)).collect(),
        _ => None,
    };
    texts.ok_or_else(|| MemoryError::invalid(format!("`{name}` in the front matter is not a list of texts")))
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

/// Returns a text as YAML: without quotes if every program reads it as a text, and otherwise with them.
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

/// Returns whether YAML programs read this text as another type of value.
fn is_word_of_yaml(text: &str) -> bool {
    let lower = text.to_lowercase();
    matches!(
        lower.as_str(),
        "y" | "n" | "yes" | "no" | "on" | "off" | "true" | "false" | "null"
    )
}
