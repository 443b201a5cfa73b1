//! JSON: lists of flat objects become tables, everything else passages that are named after their members.

mod counted;
mod records;

use std::{
    cell::Cell,
    io::{self, Write},
};

use serde::de::DeserializeSeed;
use serde_json::{Deserializer, Value, value::RawValue};

use self::counted::Counted;
use crate::{
    decode::decode, kind::FileKind, outline::Outline, preprocessed::Preprocessed, problem::FileProblem, work::Work,
};

/// The number of members of a path that become headings: they are repeated in each passage.
const SHOWN_LEVELS: usize = 8;

/// Enough for every number, so that numbers are always shown.
const SCALAR_BYTES: usize = 32;

/// Reads a JSON value, or several that are separated by white space (JSON Lines).
pub(crate) fn parse(work: &Work<'_>) -> Result<Preprocessed, FileProblem> {
    let text = decode(work)?;
    let value = read(work, &text)?;
    let mut found = Preprocessed::new();
    match records::table(work, &value)? {
        Some(table) => found.tables.push(table),
        None => found.documents.push({
            let mut outline = Outline::extracted(work);
            add(work, &mut outline, &mut Vec::new(), &value)?;
            outline.into_document(FileKind::Json)?
        }),
    }
    Ok(found)
}

fn read(work: &Work<'_>, text: &str) -> Result<Value, FileProblem> {
    let mut values = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let exceeded = Cell::new(None);
        let mut stream = Deserializer::from_str(rest).into_iter::<&RawValue>();
        let raw = match stream.next() {
            Some(Ok(raw)) => raw,
            Some(Err(error)) => return Err(syntax(work, text, rest, &error)),
            None => break,
        };
        let after = stream.byte_offset();
        let mut deserializer = Deserializer::from_str(raw.get());
        let value = Counted {
            work,
            problem: &exceeded,
        }
        .deserialize(&mut deserializer);
        values.push(value.map_err(|error| exceeded.take().unwrap_or_else(|| syntax(work, text, rest, &error)))?);
        rest = rest[after..].trim_start();
    }
    match values.len() {
        0 => Err(work.broken("it is empty, which is not JSON")),
        1 => Ok(values.remove(0)),
        _ => Ok(Value::Array(values)),
    }
}

/// Returns the problem of a text that is not JSON, with the place in the whole text.
fn syntax(work: &Work<'_>, text: &str, rest: &str, error: &serde_json::Error) -> FileProblem {
    let before = &text[..text.len() - rest.len()];
    let line = before.matches('\n').count() + error.line().max(1);
    work.broken(&format!("it is not valid JSON in line {line}"))
}

/// Adds a value: as a whole if it is short enough for a passage, otherwise its parts.
fn add(work: &Work<'_>, outline: &mut Outline<'_>, path: &mut Vec<String>, value: &Value) -> Result<(), FileProblem> {
    work.check()?;
    let longest = work.limits.passage_chars;
    if let Some(text) = shown(value, longest) {
        outline.set_headings(path.iter().take(SHOWN_LEVELS).cloned());
        return outline.push(&text, None);
    }
    let mut add_part = |name: String, part: &Value| {
        let Some(text) = shown(part, longest) else {
            path.push(name);
            let result = add(work, outline, path, part);
            path.pop();
            return result;
        };
        outline.set_headings(path.iter().take(SHOWN_LEVELS).cloned());
        outline.push(&format!("{name}: {text}"), None)
    };
    match value {
        Value::Object(members) => members
            .iter()
            .try_for_each(|(name, member)| add_part(name.clone(), member)),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| add_part(index.to_string(), item)),
        Value::String(text) => outline.push(text, None),
        _ => Ok(()),
    }
}

/// Returns a value as text, or `None` if it is longer than a passage.
fn shown(value: &Value, longest: usize) -> Option<String> {
    if let Value::String(text) = value {
        return (text.len() <= longest).then(|| text.clone());
    }
    let mut text = Bounded {
        bytes: Vec::new(),
        longest: longest.max(SCALAR_BYTES),
    };
    serde_json::to_writer_pretty(&mut text, value).ok()?;
    String::from_utf8(text.bytes).ok()
}

/// A buffer that refuses longer values, so that a large one is not written as a whole only to be measured.
struct Bounded {
    bytes: Vec<u8>,
    longest: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.longest {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
