//! Content blocks: [`StartedBlock`] as the server sends them, [`OpenBlock`] between their start and their end.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value, json, value::RawValue};

use super::delta::Delta;
use crate::{
    anthropic::vendor::SIGNATURE,
    decode::lenient::{AnswerText, LenientText, MemberName, is_blank},
};

/// A content block, complete or at its start in a stream.
#[derive(Debug, Default)]
pub(super) struct StartedBlock {
    pub(super) kind: Text,
    pub(super) text: Text,
    pub(super) thinking: Text,
    pub(super) id: Text,
    pub(super) name: Text,
    /// The arguments of a call, exactly as the server wrote them.
    pub(super) input: Option<Box<RawValue>>,
    /// All other members, in their order.
    pub(super) members: Map<String, Value>,
}

impl StartedBlock {
    /// Creates a text block.
    pub(super) fn text(text: &str) -> Self {
        Self {
            kind: "text".into(),
            text: text.into(),
            ..Self::default()
        }
    }

    /// Removes and returns the members that have no field, without empty ones.
    pub(super) fn take_members(&mut self) -> Map<String, Value> {
        let mut members = std::mem::take(&mut self.members);
        // An empty object is kept, because it may carry meaning in vendor data.
        members.retain(|_, value| value.is_object() || !is_blank(value));
        members
    }

    /// Removes and returns the members of thinking. An empty signature is kept: servers other than the vendor's own never
    /// fill it in, and expect it back.
    pub(super) fn take_signed_members(&mut self) -> Map<String, Value> {
        let empty = self
            .members
            .get(SIGNATURE)
            .filter(|signature| *signature == "")
            .cloned();
        let mut members = self.take_members();
        if let Some(empty) = empty {
            members.insert(SIGNATURE.into(), empty);
        }
        members
    }

    /// Returns all members, for blocks that are kept unchanged.
    pub(super) fn into_raw(self) -> Map<String, Value> {
        let mut raw = Map::new();
        for (name, text) in [
            ("type", self.kind),
            ("id", self.id),
            ("name", self.name),
            ("text", self.text),
            ("thinking", self.thinking),
        ] {
            if !text.is_empty() {
                raw.insert(name.into(), text.as_str().into());
            }
        }
        if let Some(input) = self.input.and_then(|input| serde_json::from_str(input.get()).ok()) {
            raw.insert("input".into(), input);
        }
        raw.extend(self.members);
        raw
    }
}

impl<'de> Deserialize<'de> for StartedBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct BlockVisitor;
        impl<'de> de::Visitor<'de> for BlockVisitor {
            type Value = StartedBlock;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a content block")
            }
            or_default!();
            // Some servers write a text block as a plain string.
            fn visit_str<E: de::Error>(self, text: &str) -> Result<StartedBlock, E> {
                Ok(StartedBlock::text(text))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StartedBlock, A::Error> {
                let mut block = StartedBlock::default();
                while let Some(name) = map.next_key::<MemberName<'de>>()? {
                    let text = match name.as_str() {
                        "type" => &mut block.kind,
                        "text" => {
                            block.text = map.next_value::<AnswerText<LenientText>>()?.0.0;
                            continue;
                        }
                        "thinking" => &mut block.thinking,
                        "id" => &mut block.id,
                        "name" => &mut block.name,
                        "input" => {
                            block.input = map.next_value()?;
                            continue;
                        }
                        other => {
                            let value: Value = map.next_value()?;
                            block.members.insert(other.to_owned(), value);
                            continue;
                        }
                    };
                    *text = map.next_value::<LenientText>()?.0;
                }
                Ok(block)
            }
        }
        deserializer.deserialize_any(BlockVisitor)
    }
}

/// A content block between its start and its end.
#[derive(Debug)]
pub(super) struct OpenBlock {
    /// The block's index, as the server counts.
    pub(super) index: u32,
    pub(super) kind: OpenKind,
    /// Vendor data of a text or thinking block; all members of a block that is kept unchanged.
    pub(super) data: Map<String, Value>,
    /// The pieces of the arguments of a block that is kept unchanged.
    partial_input: String,
}

/// The kind of an [`OpenBlock`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OpenKind {
    Text,
    Thinking,
    Call {
        /// Whether the start contained the arguments; pieces that follow replace them.
        has_input: bool,
    },
    /// An item of a tool that the vendor runs, or a block of an unknown kind.
    Raw,
}

impl OpenBlock {
    pub(super) fn new(index: u32, kind: OpenKind, data: Map<String, Value>) -> Self {
        Self {
            index,
            kind,
            data,
            partial_input: String::new(),
        }
    }

    /// Creates a block for a delta that has no start; `None` if the delta does not imply its kind.
    pub(super) fn implied_by(index: u32, delta: &Delta<'_>) -> Option<Self> {
        let kind = if !delta.text.is_empty() {
            OpenKind::Text
        } else if !delta.thinking.is_empty() || !delta.signature.is_empty() {
            OpenKind::Thinking
        } else if !delta.partial_json.is_empty() {
            OpenKind::Call { has_input: false }
        } else {
            return None;
        };
        Some(Self::new(index, kind, Map::new()))
    }

    /// Returns whether the next piece of arguments replaces those of the start. Only the first piece does.
    pub(super) fn take_replaces_input(&mut self) -> bool {
        match &mut self.kind {
            OpenKind::Call { has_input } => std::mem::take(has_input),
            _ => false,
        }
    }

    pub(super) fn add_citation(&mut self, citation: Value) {
        let list = self.data.entry("citations").or_insert_with(|| Value::Array(Vec::new()));
        match list {
            Value::Array(list) => list.push(citation),
            other => *other = Value::Array(vec![citation]),
        }
    }

    /// Merges a delta into a block that is kept unchanged: strings are appended, other values replaced.
    pub(super) fn merge(&mut self, delta: Delta<'_>) {
        self.partial_input.push_str(&delta.partial_json);
        let texts = [
            ("text", delta.text),
            ("thinking", delta.thinking),
            (SIGNATURE, delta.signature),
        ];
        let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
        let texts = texts.map(|(name, text)| (name.into(), Value::from(text.as_str())));
        for (name, value) in texts.chain(delta.members) {
            match (self.data.get_mut(&*name), value) {
                (Some(Value::String(text)), Value::String(more)) => text.push_str(&more),
                (_, value) => {
                    self.data.insert(name.into(), value);
                }
            }
        }
        if let Some(citation) = delta.citation {
            self.add_citation(citation);
        }
    }

    /// Returns all members of a block that is kept unchanged.
    pub(super) fn into_raw(mut self) -> Map<String, Value> {
        if !self.partial_input.trim().is_empty() {
            let input = serde_json::from_str(&self.partial_input).ok().filter(Value::is_object);
            let input = input.unwrap_or_else(|| json!({ "invalid_json": self.partial_input }));
            self.data.insert("input".into(), input);
        }
        self.data
    }
}
