//! [`Reply`]: a whole reply; and [`Metadata`], which streams send at their end.

use agcore_chat::Text;
use serde_json::{Result, Value};

use super::{block::Block, usage::RawUsage};
use crate::decode::{json::JsonReader, lenient::is_blank};

/// A whole reply.
#[derive(Debug, Default)]
pub(super) struct Reply {
    /// The blocks of the message; `None` without a message.
    pub(super) content: Option<Vec<Block>>,
    pub(super) stop_reason: Option<Text>,
    pub(super) metadata: Metadata,
}

/// The parts of a reply beside the message.
#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub(super) usage: RawUsage,
    /// The name of the class of service.
    pub(super) service_tier: Option<String>,
    /// The model that a prompt router has chosen.
    pub(super) model: Option<String>,
    /// All other members.
    pub(super) members: Vec<(Box<str>, Value)>,
}

impl Reply {
    /// Reads a whole reply.
    pub(super) fn read(body: &[u8]) -> Result<Self> {
        let mut json = JsonReader::from_bytes(body)?;
        let (mut reply, mut members) = (Self::default(), json.object("a reply")?);
        while let Some(name) = json.next_name(&mut members)? {
            match &*name {
                "output" => reply.content = read_output(&mut json)?,
                "stopReason" => reply.stop_reason = json.text()?,
                other => reply.metadata.read_member(other, &mut json)?,
            }
        }
        json.end()?;
        Ok(reply)
    }
}

impl Metadata {
    /// Reads the metadata of a stream.
    pub(super) fn read(json: &mut JsonReader<'_>) -> Result<Self> {
        let (mut metadata, mut members) = (Self::default(), json.object("metadata")?);
        while let Some(name) = json.next_name(&mut members)? {
            metadata.read_member(&name, json)?;
        }
        Ok(metadata)
    }

    fn read_member(&mut self, name: &str, json: &mut JsonReader<'_>) -> Result<()> {
        match name {
            "usage" => self.usage = RawUsage::read(json)?,
            _ if is_padding(name) => json.skip()?,
            _ => {
                let value = json.value()?;
                let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
                match name {
                    "serviceTier" => self.service_tier = text(value.get("type")),
                    "trace" => self.model = text(value.pointer("/promptRouter/invokedModelId")),
                    _ => {}
                }
                if !is_blank(&value) && name != "serviceTier" {
                    self.members.push((name.into(), value));
                }
            }
        }
        Ok(())
    }
}

fn read_output(json: &mut JsonReader<'_>) -> Result<Option<Vec<Block>>> {
    let (mut content, mut members) = (None, json.object("an output")?);
    while let Some(name) = json.next_name(&mut members)? {
        match &*name {
            "message" => content = read_message(json)?,
            _ => json.skip()?,
        }
    }
    Ok(content)
}

fn read_message(json: &mut JsonReader<'_>) -> Result<Option<Vec<Block>>> {
    let mut members = json.object("a message")?;
    if members.is_absent() {
        return Ok(None);
    }
    let mut blocks = Vec::new();
    while let Some(name) = json.next_name(&mut members)? {
        if name != "content" {
            json.skip()?;
            continue;
        }
        let mut list = json.list("a list of content blocks")?;
        while json.next_item(&mut list)? {
            blocks.extend(Block::read(json)?);
        }
    }
    Ok(Some(blocks))
}

/// The padding that hides the length of what the model wrote.
const PADDING: &str = "p";

/// Returns whether a member is padding.
pub(super) fn is_padding(name: &str) -> bool {
    name == PADDING
}
