//! Content blocks: [`Block`] as in a whole reply, [`Piece`] as in a stream, [`OpenBlock`] between its start and its end.

use agcore_chat::Text;
use serde_json::{Map, Result, Value, json};

use super::call::ToolUse;
use crate::{
    bedrock::vendor::{REDACTED, SIGNATURE},
    decode::json::JsonReader,
};

/// A block of a whole reply, or the start of one in a stream.
#[derive(Debug)]
pub(super) enum Block {
    Text(Option<Text>),
    Reasoning(Reasoning),
    Call(ToolUse),
    /// Text with its sources.
    Cited(Value),
    /// A block of any other kind, whole.
    Other(Map<String, Value>),
}

/// Reasoning, or a piece of it.
#[derive(Debug, Default)]
pub(super) struct Reasoning {
    pub(super) text: Option<Text>,
    pub(super) signature: Option<Text>,
    /// Encrypted reasoning in base64.
    pub(super) redacted: Option<Text>,
}

/// A piece of a block.
#[derive(Debug, Default)]
pub(super) struct Piece {
    pub(super) text: Option<Text>,
    pub(super) reasoning: Reasoning,
    /// A piece of the JSON text of arguments.
    pub(super) input: Option<Text>,
    pub(super) citation: Option<Value>,
    /// All other members.
    pub(super) other: Vec<(Box<str>, Value)>,
}

impl Block {
    /// Reads a block of a whole reply. Its content has one member, whose name is its kind.
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Option<Self>> {
        let (mut block, mut members) = (None, json.object("a content block")?);
        while let Some(name) = json.next_name(&mut members)? {
            let read = match &*name {
                "text" => Self::Text(json.text()?),
                "reasoningContent" => Self::Reasoning(Reasoning::read_whole(json)?),
                "toolUse" => {
                    let raw = json.raw()?;
                    let call = ToolUse::read(&mut JsonReader::from_bytes(raw.as_bytes())?)?;
                    if call.is_hosted() {
                        Self::Other(Map::from_iter([(name.into_owned(), json.parse(raw)?)]))
                    } else {
                        Self::Call(call)
                    }
                }
                "citationsContent" => Self::Cited(json.value()?),
                _ => match (json.value()?, &mut block) {
                    (Value::Null, _) => continue,
                    (value, Some(Self::Other(members))) => {
                        members.insert(name.into_owned(), value);
                        continue;
                    }
                    (value, _) => Self::Other(Map::from_iter([(name.into_owned(), value)])),
                },
            };
            block = Some(read);
        }
        Ok(block)
    }
}

impl Reasoning {
    fn read_whole(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut reasoning, mut members) = (Self::default(), json.object("reasoning")?);
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "reasoningText" => {
                    let redacted = reasoning.redacted.take();
                    reasoning = Self::read(json)?;
                    reasoning.redacted = redacted;
                }
                REDACTED => reasoning.redacted = json.text()?,
                _ => json.skip()?,
            }
        }
        Ok(reasoning)
    }

    /// Reads a piece of reasoning, or the text and signature of a whole one.
    fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut reasoning, mut members) = (Self::default(), json.object("reasoning")?);
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "text" => reasoning.text = json.text()?,
                SIGNATURE => reasoning.signature = json.text()?,
                REDACTED => reasoning.redacted = json.text()?,
                _ => json.skip()?,
            }
        }
        Ok(reasoning)
    }
}

impl Piece {
    /// Reads the member `delta` of an event.
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut piece, mut members) = (Self::default(), json.object("a piece of a content block")?);
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "text" => piece.text = json.text()?,
                "toolUse" => {
                    let mut members = json.object("a piece of a tool use")?;
                    while let Some(name) = json.next_name(&mut members)? {
                        match &*name {
                            "input" => piece.input = json.text()?,
                            _ => json.skip()?,
                        }
                    }
                }
                "reasoningContent" => piece.reasoning = Reasoning::read(json)?,
                "citation" => piece.citation = Some(json.value()?),
                other => piece.other.push((other.into(), json.value()?)),
            }
        }
        Ok(piece)
    }
}

/// A block of a stream that has not ended.
#[derive(Debug)]
pub(super) struct OpenBlock {
    pub(super) index: u32,
    pub(super) kind: OpenKind,
}

/// The kind of an open block, with the parts that are emitted only at its end.
#[derive(Debug)]
pub(super) enum OpenKind {
    Text,
    Reasoning {
        signature: String,
    },
    Call,
    /// An item of the vendor.
    Item(OpenItem),
}

/// An item of the vendor: the call of a tool that the vendor runs, its result, or an image.
#[derive(Debug)]
pub(super) struct OpenItem {
    /// The name of the only member of the block.
    name: Box<str>,
    members: Map<String, Value>,
    /// The JSON text of arguments.
    input: String,
}

impl OpenItem {
    /// Begins the item that a block is, which has no end in a whole reply.
    pub(super) fn begin(block: Map<String, Value>) -> Option<Self> {
        let (name, value) = block.into_iter().next()?;
        let members = match value {
            Value::Object(members) => members,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        Some(Self {
            name: name.into(),
            members,
            input: String::new(),
        })
    }

    /// Adds a piece.
    pub(super) fn add(&mut self, piece: Piece) {
        if let Some(input) = piece.input {
            self.input.push_str(&input);
        }
        for (name, value) in piece.other.into_iter().filter(|(name, _)| *name == self.name) {
            match value {
                // The content of a result, piece by piece.
                Value::Array(more) => {
                    let content = self.members.entry("content").or_insert_with(|| json!([]));
                    if let Value::Array(content) = content {
                        more.into_iter().for_each(|part| add_part(content, part));
                    }
                }
                Value::Object(more) => self.members.extend(more),
                other => drop(self.members.insert(name.into(), other)),
            }
        }
    }

    /// Returns the whole block.
    pub(super) fn finish(mut self) -> Map<String, Value> {
        if &*self.name == "toolUse" {
            let input = self.members.get("input").cloned().unwrap_or_else(|| json!({}));
            let text = self.input.trim();
            let input = match serde_json::from_str(text) {
                _ if text.is_empty() => input,
                Ok(input) => input,
                Err(_) => json!({ "invalid_json": text }),
            };
            self.members.insert("input".to_owned(), input);
        }
        Map::from_iter([(self.name.into(), Value::Object(self.members))])
    }
}

/// Adds a part of a result. Texts that follow each other are one.
fn add_part(content: &mut Vec<Value>, part: Value) {
    let more = part.get("text").and_then(Value::as_str);
    let last = content.last_mut().and_then(|last| last.get_mut("text"));
    match (last, more) {
        (Some(Value::String(text)), Some(more)) => text.push_str(more),
        _ => content.push(part),
    }
}
