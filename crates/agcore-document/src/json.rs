//! JSON documents.

use std::{collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{
    error::{DocumentError, ErrorKind},
    limits::Limits,
    node::{Member, Node, Value},
    place::{Lines, Place},
};

/// The only problem that is not found before the parts of a text are read.
const NO_CHARACTER: &str = "an escape stands for half of a character; write both halves, such as \\ud83c\\udf75";

/// Reads a document: the whole text first, to find errors, and then each value from its part of the text.
pub(crate) fn parse(text: &str, limits: &Limits) -> Result<Node, DocumentError> {
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| {
        let place = Place::new(error.line().max(1), error.column().max(1));
        DocumentError::of_text(place, ErrorKind::Syntax(without_place(&error)))
    })?;
    let mut reader = Reader {
        start: text.as_ptr().addr(),
        lines: Lines::of(text),
        limits,
        values: 0,
    };
    reader.node(raw, 0)
}

/// Returns the message of an error without the line and column, which the place has.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}

struct Reader<'t> {
    /// The address of the text, to which those of its parts are compared.
    start: usize,
    lines: Lines<'t>,
    limits: &'t Limits,
    values: usize,
}

impl Reader<'_> {
    fn place(&self, raw: &RawValue) -> Place {
        self.lines.place(raw.get().as_ptr().addr() - self.start)
    }

    fn node(&mut self, raw: &RawValue, depth: usize) -> Result<Node, DocumentError> {
        let place = self.place(raw);
        let refused = |kind| Err(DocumentError::of_text(place, kind));
        self.values += 1;
        let most = self.limits.max_values;
        if self.values > most {
            return refused(ErrorKind::TooLarge { unit: "values", most });
        }
        let most = self.limits.max_depth;
        let text = raw.get();
        let is_container = text.starts_with(['[', '{']);
        if is_container && depth >= most {
            return refused(ErrorKind::TooDeep(most));
        }
        let unreadable = |_| DocumentError::of_text(place, ErrorKind::Unsupported(NO_CHARACTER));
        let value = match text.as_bytes().first() {
            Some(b'[') => {
                let Items(items) = serde_json::from_str(text).map_err(unreadable)?;
                let items = items.into_iter().map(|item| self.node(item, depth + 1));
                Value::List(items.collect::<Result<_, _>>()?)
            }
            Some(b'{') => {
                let Members(members) = serde_json::from_str(text).map_err(unreadable)?;
                self.table(members, depth)?
            }
            Some(b'"') => Value::Text(serde_json::from_str(text).map_err(unreadable)?),
            Some(b't' | b'f') => Value::Bool(text == "true"),
            Some(b'n') => Value::Null,
            _ => Value::Number(text.to_owned()),
        };
        Ok(Node::new(place, value))
    }

    fn table(&mut self, raw: Vec<(&RawValue, &RawValue)>, depth: usize) -> Result<Value, DocumentError> {
        let mut names = HashSet::with_capacity(raw.len());
        let mut members = Vec::with_capacity(raw.len());
        for (key, value) in raw {
            let place = self.place(key);
            let name: String = serde_json::from_str(key.get())
                .map_err(|_| DocumentError::of_text(place, ErrorKind::Unsupported(NO_CHARACTER)))?;
            if !names.insert(name.clone()) {
                return Err(DocumentError::of_text(place, ErrorKind::DuplicateKey(name)));
            }
            let node = self.node(value, depth + 1)?;
            members.push(Member { place, name, node });
        }
        Ok(Value::Table(members))
    }
}

/// The parts of the text of a list.
struct Items<'t>(Vec<&'t RawValue>);

/// The parts of the text of a table.
struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Parts).map(Self)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Pairs).map(Self)
    }
}

struct Parts;
struct Pairs;

impl<'de> Visitor<'de> for Parts {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut parts = Vec::new();
        while let Some(part) = access.next_element()? {
            parts.push(part);
        }
        Ok(parts)
    }
}

impl<'de> Visitor<'de> for Pairs {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = access.next_entry()? {
            pairs.push(pair);
        }
        Ok(pairs)
    }
}
