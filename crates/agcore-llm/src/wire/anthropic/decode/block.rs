//! [`StartedBlock`]: a block of content, whole or as it begins in a stream.

use std::fmt;

use agcore_chat::Text;
use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess},
};
use serde_json::{Map, Value, value::RawValue};

use super::nothing::nothing;
use crate::wire::lenient::{LooseText, Name};

/// A block of content.
#[derive(Debug, Default)]
pub(super) struct StartedBlock {
    pub(super) kind: Text,
    pub(super) text: Text,
    pub(super) thinking: Text,
    pub(super) id: Text,
    pub(super) name: Text,
    /// The arguments of a call as the server wrote them.
    pub(super) input: Option<Box<RawValue>>,
    /// Whatever else it has, in its order.
    pub(super) members: Map<String, Value>,
}

impl StartedBlock {
    /// The text of a call's arguments, where there are any. An empty object says nothing yet, unless the block is whole.
    pub(super) fn arguments(&self, is_whole: bool) -> Option<Text> {
        let raw = self.input.as_ref()?.get();
        let is_empty = || raw.bytes().filter(|byte| !byte.is_ascii_whitespace()).eq(*b"{}");
        if raw == "null" || (!is_whole && is_empty()) {
            return None;
        }
        // Arguments that are no JSON come as a string from servers in between.
        let quoted: Option<String> = raw.starts_with('"').then(|| serde_json::from_str(raw).ok()).flatten();
        let text = quoted.map_or_else(|| raw.into(), Text::from);
        (!text.is_empty()).then_some(text)
    }

    /// The block as the server wrote it, for kinds that are kept as they are.
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
                f.write_str("a block of content")
            }
            nothing!(StartedBlock);
            // A bare text, as some servers write content.
            fn visit_str<E: de::Error>(self, text: &str) -> Result<StartedBlock, E> {
                Ok(StartedBlock {
                    kind: "text".into(),
                    text: text.into(),
                    ..StartedBlock::default()
                })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<StartedBlock, A::Error> {
                let mut block = StartedBlock::default();
                while let Some(name) = map.next_key::<Name<'de>>()? {
                    let text = match name.as_str() {
                        "type" => &mut block.kind,
                        "text" => &mut block.text,
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
                    *text = map.next_value::<LooseText>()?.0;
                }
                Ok(block)
            }
        }
        deserializer.deserialize_any(BlockVisitor)
    }
}
