//! [`BlockJson`]: the JSON form of a complete block. The JSON form of messages cannot distinguish all kinds of blocks.

use std::sync::Arc;

use agcore_chat::{Block, Extra, Marks, Reasoning, RefusalPart, TextBlock, ToolCall, VendorData};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum BlockJson {
    Text {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<VendorData>,
        #[serde(default, skip_serializing_if = "Marks::is_empty")]
        marks: Marks,
        #[serde(default, skip_serializing_if = "Extra::is_empty")]
        extra: Extra,
    },
    Refusal(RefusalPart),
    Reasoning {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vendor: Option<VendorData>,
    },
    Call(ToolCall),
    Hosted(VendorData),
    Other(Value),
}

impl BlockJson {
    /// Returns the JSON form of a block, or `None` for a kind that this version does not know.
    pub(super) fn from_block(block: Block) -> Option<Self> {
        Some(match block {
            Block::Text(TextBlock {
                text,
                vendor,
                marks,
                extra,
            }) => Self::Text {
                text,
                vendor,
                marks,
                extra,
            },
            Block::Refusal(part) => Self::Refusal(part),
            Block::Reasoning(Reasoning { text, vendor }) => Self::Reasoning { text, vendor },
            Block::Call(call) => Self::Call(Arc::unwrap_or_clone(call)),
            Block::Hosted(item) => Self::Hosted(item),
            Block::Other(raw) => Self::Other(raw),
            _ => return None,
        })
    }
}

impl From<BlockJson> for Block {
    fn from(json: BlockJson) -> Self {
        match json {
            BlockJson::Text {
                text,
                vendor,
                marks,
                extra,
            } => Self::Text(TextBlock {
                text,
                vendor,
                marks,
                extra,
            }),
            BlockJson::Refusal(part) => Self::Refusal(part),
            BlockJson::Reasoning { text, vendor } => Self::Reasoning(Reasoning { text, vendor }),
            BlockJson::Call(call) => call.into(),
            BlockJson::Hosted(item) => Self::Hosted(item),
            BlockJson::Other(raw) => Self::Other(raw),
        }
    }
}
