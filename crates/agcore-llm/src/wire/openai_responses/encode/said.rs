//! What the model said, as items: its own message with an id, or plain text.

use agcore_chat::{Block, TextBlock};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::super::vendor::{self, PART, REFUSAL};

/// Text of the model that is no item of this API.
pub(super) struct Plain<'a> {
    pub(super) text: &'a str,
    /// What stood beside it in an item whose id cannot go back.
    pub(super) phase: Option<&'a Value>,
}

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("role", "assistant")?;
        map.serialize_entry("content", self.text)?;
        if let Some(phase) = self.phase {
            map.serialize_entry("phase", phase)?;
        }
        map.end()
    }
}

/// A message item as it came: blocks in a row that are of one item.
pub(super) struct OwnMessage<'a> {
    pub(super) blocks: &'a [Block],
    /// The item's members; the last block has all of them.
    pub(super) members: &'a Map<String, Value>,
    pub(super) refusal: Option<&'a str>,
}

impl<'a> OwnMessage<'a> {
    /// The item that these blocks begin with, and how many they are.
    pub(super) fn first(blocks: &'a [Block]) -> Option<(Self, usize)> {
        let id = vendor::id(members(blocks.first()?)?)?;
        let is_same = |block: &Block| match block {
            Block::Text(_) => members(block).and_then(vendor::id) == Some(id),
            Block::Other(_) => true,
            _ => false,
        };
        let count = blocks.iter().take_while(|block| is_same(block)).count();
        let blocks = &blocks[..count];
        let own = Self {
            blocks,
            members: blocks.iter().rev().find_map(members)?,
            refusal: None,
        };
        Some((own, count))
    }

    /// Whether a refusal stood in it.
    pub(super) fn has_refusal(&self) -> bool {
        self.members.contains_key(REFUSAL)
    }

    pub(super) fn phase(&self) -> Option<&'a Value> {
        self.members.get("phase")
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &'a str> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Text(block) if !block.text.is_empty() => Some(block.text.as_str()),
            _ => None,
        })
    }

    /// Whether nothing is left of it.
    pub(super) fn is_empty(&self) -> bool {
        let has_other = self.blocks.iter().any(|block| matches!(block, Block::Other(_)));
        !has_other && self.refusal.is_none() && self.texts().next().is_none()
    }
}

/// What the API wants back with a text block.
pub(super) fn members(block: &Block) -> Option<&Map<String, Value>> {
    match block {
        Block::Text(block) => vendor::own(block.vendor.as_ref()),
        _ => None,
    }
}

impl Serialize for OwnMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "message")?;
        map.serialize_entry("role", "assistant")?;
        // A must of the API, though some servers leave it out.
        if !self.members.contains_key("status") {
            map.serialize_entry("status", "completed")?;
        }
        for (name, value) in self.members {
            if name != PART && name != REFUSAL {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("content", &Parts(self))?;
        map.end()
    }
}

struct Parts<'a>(&'a OwnMessage<'a>);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0.blocks.iter().filter_map(|block| match block {
            Block::Text(block) if block.text.is_empty() => None,
            Block::Text(block) => Some(WrittenPart::Text(block)),
            Block::Other(raw) => Some(WrittenPart::Raw(raw)),
            _ => None,
        });
        let refusal = self.0.refusal.map(WrittenPart::Refusal);
        serializer.collect_seq(parts.chain(refusal))
    }
}

enum WrittenPart<'a> {
    Text(&'a TextBlock),
    Refusal(&'a str),
    Raw(&'a Value),
}

impl Serialize for WrittenPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = match self {
            Self::Text(block) => block,
            Self::Refusal(text) => return json!({"type": "refusal", "refusal": text}).serialize(serializer),
            Self::Raw(raw) => return raw.serialize(serializer),
        };
        let members = vendor::own(block.vendor.as_ref());
        let part = members.and_then(|members| members.get(PART)?.as_object());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "output_text")?;
        map.serialize_entry("text", &block.text)?;
        // A must of the API, empty or not.
        if !part.is_some_and(|part| part.contains_key("annotations")) {
            map.serialize_entry("annotations", &[(); 0])?;
        }
        for (name, value) in part.into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}
