//! The items that assistant messages consist of: messages, calls, and items that are sent back unchanged.

use std::borrow::Cow;

use agcore_chat::{Block, CallInput, TextBlock, ToolCall};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

use super::context::Context;
use crate::{
    encode::tool_names,
    openai_responses::vendor::{PART, REFUSAL, item_id, own_members, unsupported},
};

/// Text of the model that is not an item of this API, or whose item cannot be sent back with its id.
pub(super) struct PlainMessage<'a> {
    pub(super) text: &'a str,
    /// The `phase` of the item that the text was received in.
    pub(super) phase: Option<&'a Value>,
}

impl Serialize for PlainMessage<'_> {
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

/// A message item, sent back as it was received: consecutive blocks that belong to one item.
pub(super) struct MessageItem<'a> {
    blocks: &'a [Block],
    /// The members of the item; its last block has all of them.
    members: &'a Map<String, Value>,
    pub(super) refusal: Option<&'a str>,
}

impl<'a> MessageItem<'a> {
    /// Returns the item that the first blocks belong to, and the number of these blocks.
    pub(super) fn first(blocks: &'a [Block]) -> Option<(Self, usize)> {
        let id = item_id(text_members(blocks.first()?)?)?;
        let is_same = |block: &Block| match block {
            Block::Text(_) => text_members(block).and_then(item_id) == Some(id),
            Block::Other(_) => true,
            _ => false,
        };
        let count = blocks.iter().take_while(|block| is_same(block)).count();
        let blocks = &blocks[..count];
        let item = Self {
            blocks,
            members: blocks.iter().rev().find_map(text_members)?,
            refusal: None,
        };
        Some((item, count))
    }

    /// Returns whether the item contained a refusal.
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

    /// Returns whether the item has no content, which the application may have removed.
    pub(super) fn is_empty(&self) -> bool {
        let has_other = self.blocks.iter().any(|block| matches!(block, Block::Other(_)));
        !has_other && self.refusal.is_none() && self.texts().next().is_none()
    }
}

/// Returns the members of the item that a text block was received in.
pub(super) fn text_members(block: &Block) -> Option<&Map<String, Value>> {
    match block {
        Block::Text(block) => own_members(block.vendor.as_ref()),
        _ => None,
    }
}

impl Serialize for MessageItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "message")?;
        map.serialize_entry("role", "assistant")?;
        // The API requires it, but some servers do not send it.
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

struct Parts<'a>(&'a MessageItem<'a>);

impl Serialize for Parts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let parts = self.0.blocks.iter().filter_map(|block| match block {
            Block::Text(block) if block.text.is_empty() => None,
            Block::Text(block) => Some(EncodedPart::Text(block)),
            Block::Other(raw) => Some(EncodedPart::Raw(raw)),
            _ => None,
        });
        let refusal = self.0.refusal.map(EncodedPart::Refusal);
        serializer.collect_seq(parts.chain(refusal))
    }
}

enum EncodedPart<'a> {
    Text(&'a TextBlock),
    Refusal(&'a str),
    Raw(&'a Value),
}

impl Serialize for EncodedPart<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let block = match self {
            Self::Text(block) => block,
            Self::Refusal(text) => return json!({"type": "refusal", "refusal": text}).serialize(serializer),
            Self::Raw(raw) => return raw.serialize(serializer),
        };
        let members = own_members(block.vendor.as_ref());
        let part = members.and_then(|members| members.get(PART)?.as_object());
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "output_text")?;
        map.serialize_entry("text", &block.text)?;
        // The API requires the list, even if it is empty.
        if !part.is_some_and(|part| part.contains_key("annotations")) {
            map.serialize_entry("annotations", &[(); 0])?;
        }
        for (name, value) in part.into_iter().flatten() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A call.
pub(super) struct EncodedCall<'a> {
    pub(super) context: &'a Context<'a>,
    /// The index of its message.
    pub(super) at: usize,
    pub(super) call: &'a ToolCall,
    /// The members that the API expects back.
    pub(super) members: Option<&'a Map<String, Value>>,
    /// Whether the id of its item is sent. The API rejects it without the reasoning that led to the call.
    pub(super) with_id: bool,
}

impl Serialize for EncodedCall<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let call = self.call;
        let (kind, member, input) = match &call.input {
            // OpenAI expects arguments as a string, so even invalid ones are sent as the model wrote them.
            CallInput::Arguments(raw) if raw.trim().is_empty() => ("function_call", "arguments", "{}".into()),
            CallInput::Arguments(raw) if self.context.parsed_arguments && call.check_arguments().is_err() => {
                let wrapped = json!({ "invalid_json": raw }).to_string();
                ("function_call", "arguments", Cow::Owned(wrapped))
            }
            CallInput::Arguments(raw) => ("function_call", "arguments", Cow::Borrowed(raw.as_str())),
            CallInput::Text(text) => ("custom_tool_call", "input", text.as_str().into()),
            other => return Err(unsupported(&format!("the call input {other:?}"), "leave the call out")),
        };
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", kind)?;
        for (name, value) in self.members.into_iter().flatten() {
            let is_accepted = match name.as_str() {
                "id" => self.with_id,
                // The API sends it with calls of custom tools, but does not accept it back.
                "status" => kind != "custom_tool_call",
                _ => true,
            };
            if is_accepted {
                map.serialize_entry(name, value)?;
            }
        }
        map.serialize_entry("call_id", &self.context.call_ids.get(self.at, &call.id))?;
        map.serialize_entry("name", &tool_names::of_call(&call.name))?;
        map.serialize_entry(member, &input)?;
        map.end()
    }
}

/// The members of an object that are not `null`. Servers send `null` for absent members, but do not always accept it back.
pub(super) struct WithoutNulls<'a>(pub(super) &'a Map<String, Value>);

impl Serialize for WithoutNulls<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().filter(|(_, value)| !value.is_null()))
    }
}

/// An item of a hosted tool. Most of its `null` members are required: `code`, `outputs` and `result` of other tools must be
/// present.
pub(super) struct HostedItem<'a>(pub(super) &'a Map<String, Value>);

impl Serialize for HostedItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_search = self.0.get("type").is_some_and(|kind| kind == "web_search_call");
        serializer.collect_map(self.0.iter().map(|(name, value)| match value {
            // `sources` is null unless it was requested, but the API accepts only a list.
            Value::Object(action) if is_search && name == "action" => {
                (name, HostedMember::Action(WithoutNulls(action)))
            }
            value => (name, HostedMember::Any(value)),
        }))
    }
}

/// A member of a [`HostedItem`].
#[derive(Serialize)]
#[serde(untagged)]
enum HostedMember<'a> {
    Action(WithoutNulls<'a>),
    Any(&'a Value),
}
