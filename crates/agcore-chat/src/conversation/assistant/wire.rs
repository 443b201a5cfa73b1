//! The JSON form of an assistant message: plain members, and an extension member for what they cannot express.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::MapAccess, ser::SerializeMap};
use serde_json::Value;

use super::{AssistantMessage, Block, FunctionCall, Reasoning, TextBlock};
use crate::{
    content::{
        Content,
        marks::{CacheMark, EXTENSION_MEMBER, Marks, Origin},
        part::{ContentPart, TextPart},
    },
    object::{Extra, Member, Object, entry, extra, object},
    tool::call::{ToolCall, VendorData},
};

/// The members of the JSON object.
#[derive(Default)]
struct Wire {
    content: Option<Content>,
    reasoning_content: String,
    tool_calls: Vec<ToolCall>,
    refusal: Option<String>,
    name: Option<String>,
    function_call: Option<FunctionCall>,
    audio: Option<Value>,
    annotations: Option<Value>,
    extension: Extension,
    extra: Extra,
}
object!(Wire: "an assistant message" {
    "content" => content, "reasoning_content" => reasoning_content, "tool_calls" => tool_calls,
    "refusal" => refusal, "name" => name, "function_call" => function_call, "audio" => audio,
    "annotations" => annotations, "agcore" => extension,
});

/// The extension member.
#[derive(Default, Serialize, Deserialize)]
struct Extension {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache: Option<CacheMark>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Origin>,
    /// The order of the blocks, as references to the plain members, which hold all readable text. A list that does not
    /// match them, because the JSON was edited, is ignored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Slot>,
}
impl Member for Extension {
    fn is_absent(&self) -> bool {
        self.cache.is_none() && self.origin.is_none() && self.blocks.is_empty()
    }
}

/// One block, as a reference to the next piece of a plain member.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Slot {
    /// The next content part.
    Content {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<VendorData>,
    },
    /// The next `bytes` bytes of `reasoning_content`.
    Reasoning {
        bytes: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<VendorData>,
    },
    /// The next tool call.
    Call,
    /// An item that has no plain form, and is stored here.
    Hosted(VendorData),
}

impl From<Wire> for AssistantMessage {
    fn from(wire: Wire) -> Self {
        let parts = wire.content.map(Content::into_parts).unwrap_or_default();
        let Extension {
            cache,
            origin,
            blocks: slots,
        } = wire.extension;
        let blocks = if covers(&slots, parts.len(), &wire.reasoning_content, wire.tool_calls.len()) {
            ordered_blocks(slots, parts, &wire.reasoning_content, wire.tool_calls)
        } else {
            plain_blocks(parts, wire.reasoning_content, wire.tool_calls)
        };
        Self {
            blocks,
            refusal: wire.refusal,
            name: wire.name,
            function_call: wire.function_call,
            audio: wire.audio,
            annotations: wire.annotations,
            marks: Marks {
                cache,
                origin,
                is_error: false,
            },
            extra: wire.extra,
        }
    }
}

/// Returns whether the slots refer to the whole of each plain member, and to nothing else.
fn covers(slots: &[Slot], parts: usize, reasoning: &str, calls: usize) -> bool {
    let (mut seen_parts, mut seen_calls, mut at) = (0, 0, 0_usize);
    for slot in slots {
        match slot {
            Slot::Content { .. } => seen_parts += 1,
            Slot::Call => seen_calls += 1,
            Slot::Hosted(_) => {}
            Slot::Reasoning { bytes, .. } => {
                at = at.saturating_add(*bytes);
                if !reasoning.is_char_boundary(at) {
                    return false;
                }
            }
        }
    }
    !slots.is_empty() && seen_parts == parts && seen_calls == calls && at == reasoning.len()
}

/// Puts the contents of the plain members in the order of the slots, which [cover](covers) them.
fn ordered_blocks(slots: Vec<Slot>, parts: Vec<ContentPart>, reasoning: &str, calls: Vec<ToolCall>) -> Vec<Block> {
    let (mut parts, mut calls, mut rest) = (parts.into_iter(), calls.into_iter(), reasoning);
    let block = |slot| match slot {
        Slot::Content { vendor } => parts.next().map(|part| with_vendor(part_block(part), vendor)),
        Slot::Call => calls.next().map(Block::from),
        Slot::Hosted(item) => Some(Block::Hosted(item)),
        Slot::Reasoning { bytes, vendor } => {
            let (text, after) = rest.split_at_checked(bytes)?;
            rest = after;
            Some(Block::Reasoning(Reasoning {
                text: text.to_owned(),
                vendor,
            }))
        }
    };
    slots.into_iter().filter_map(block).collect()
}

/// Puts the contents of the plain members in their default order: reasoning, content, calls.
fn plain_blocks(parts: Vec<ContentPart>, reasoning: String, calls: Vec<ToolCall>) -> Vec<Block> {
    let reasoning = (!reasoning.is_empty()).then(|| Block::reasoning(reasoning));
    reasoning
        .into_iter()
        .chain(parts.into_iter().map(part_block))
        .chain(calls.into_iter().map(Block::from))
        .collect()
}

fn part_block(part: ContentPart) -> Block {
    match part {
        ContentPart::Text(TextPart { text, marks, extra }) => Block::Text(TextBlock {
            text,
            vendor: None,
            marks,
            extra,
        }),
        ContentPart::Refusal(refusal) => Block::Refusal(refusal),
        ContentPart::Other(raw) => Block::Other(raw),
        // Assistant messages do not have such parts, but no data may be lost.
        other => Block::Other(serde_json::to_value(other).unwrap_or_default()),
    }
}

fn with_vendor(block: Block, vendor: Option<VendorData>) -> Block {
    match block {
        Block::Text(text) => Block::Text(TextBlock { vendor, ..text }),
        other => other,
    }
}

impl AssistantMessage {
    /// Returns whether the plain members express the whole message: at most one reasoning block, then content, then
    /// calls, and no vendor data except that of calls, which have a member of their own for it.
    fn is_plain(&self) -> bool {
        let mut last = 0;
        self.blocks.iter().all(|block| {
            let rank = match block {
                Block::Reasoning(reasoning) if reasoning.vendor.is_none() && !reasoning.text.is_empty() => 1,
                Block::Text(text) if text.vendor.is_none() => 2,
                Block::Refusal(_) | Block::Other(_) => 2,
                Block::Call(_) => 3,
                Block::Reasoning(_) | Block::Text(_) | Block::Hosted(_) => return false,
            };
            let in_order = rank > last || (rank == last && rank > 1);
            last = rank;
            in_order
        })
    }

    /// Describes the order of the blocks.
    fn slots(&self) -> Vec<Slot> {
        let slot = |block: &Block| match block {
            Block::Text(text) => Slot::Content {
                vendor: text.vendor.clone(),
            },
            Block::Refusal(_) | Block::Other(_) => Slot::Content { vendor: None },
            Block::Reasoning(reasoning) => Slot::Reasoning {
                bytes: reasoning.text.len(),
                vendor: reasoning.vendor.clone(),
            },
            Block::Call(_) => Slot::Call,
            Block::Hosted(item) => Slot::Hosted(item.clone()),
        };
        self.blocks.iter().map(slot).collect()
    }

    /// Returns whether a message without content has any other member that replaces it.
    fn has_other_content(&self) -> bool {
        self.has_tool_calls() || self.function_call.is_some() || self.refusal.is_some() || self.audio.is_some()
    }

    /// Writes `content`: a string for a single plain text, an array of parts for anything else, `null` if another
    /// member replaces the content.
    fn write_content<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        let mut parts = self.blocks.iter().filter(|block| is_content(block));
        match (parts.next(), parts.next()) {
            (None, _) if self.has_other_content() => map.serialize_entry("content", &Value::Null),
            (None, _) => map.serialize_entry("content", ""),
            (Some(Block::Text(text)), None)
                if text.extra.is_empty() && text.marks.is_empty() && !text.text.is_empty() =>
            {
                map.serialize_entry("content", &text.text)
            }
            _ => map.serialize_entry("content", &SerializedBlocks(&self.blocks, is_content)),
        }
    }
}

impl Object for AssistantMessage {
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        Wire::read(map).map(Self::from)
    }

    fn write<S: SerializeMap>(&self, map: &mut S) -> Result<(), S::Error> {
        self.write_content(map)?;
        let reasoning = self.reasoning();
        if !reasoning.is_empty() {
            map.serialize_entry("reasoning_content", &reasoning)?;
        }
        if self.has_tool_calls() {
            map.serialize_entry(
                "tool_calls",
                &SerializedBlocks(&self.blocks, |block| matches!(block, Block::Call(_))),
            )?;
        }
        entry(map, "refusal", &self.refusal)?;
        entry(map, "name", &self.name)?;
        entry(map, "function_call", &self.function_call)?;
        entry(map, "audio", &self.audio)?;
        entry(map, "annotations", &self.annotations)?;
        let blocks = if self.is_plain() { Vec::new() } else { self.slots() };
        let Marks { cache, origin, .. } = self.marks.clone();
        entry(map, EXTENSION_MEMBER, &Extension { cache, origin, blocks })?;
        extra(map, &self.extra)
    }
}

impl Serialize for AssistantMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        crate::object::write_tagged(serializer, "role", "assistant", self)
    }
}

impl<'de> Deserialize<'de> for AssistantMessage {
    /// Reads a message regardless of its `role`, which is `null` or missing in some replies.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut message = Self::from(Wire::deserialize(deserializer)?);
        message.extra.remove("role");
        Ok(message)
    }
}

fn is_content(block: &Block) -> bool {
    matches!(block, Block::Text(_) | Block::Refusal(_) | Block::Other(_))
}

/// The serialized form of the blocks that match a filter: content parts or calls.
struct SerializedBlocks<'a>(&'a [Block], fn(&Block) -> bool);

impl Serialize for SerializedBlocks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().filter(|block| self.1(block)).map(SerializedBlock))
    }
}

struct SerializedBlock<'a>(&'a Block);

impl Serialize for SerializedBlock<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Block::Text(TextBlock { text, marks, extra, .. }) => {
                let part = TextPart {
                    text: text.clone(),
                    marks: marks.clone(),
                    extra: extra.clone(),
                };
                ContentPart::Text(part).serialize(serializer)
            }
            Block::Refusal(part) => ContentPart::Refusal(part.clone()).serialize(serializer),
            Block::Other(raw) => raw.serialize(serializer),
            Block::Call(call) => call.serialize(serializer),
            Block::Reasoning(_) | Block::Hosted(_) => serializer.serialize_unit(),
        }
    }
}
