//! [`AssistantMessage`]: a reply of the model as ordered [`Block`]s.

mod wire;

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{
    content::RefusalPart,
    marks::Marks,
    object::{Extra, object},
    tool_call::{ToolCall, VendorData},
};

/// What the model said: its blocks in the order in which it said them.
///
/// As JSON it is a plain assistant message of the Chat Completions API, with reasoning text in `reasoning_content`; only
/// what that form cannot say (the order of mixed blocks, data that a vendor wants back) stands in one extension member.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AssistantMessage {
    /// Text, reasoning, calls and hosted items in order.
    pub blocks: Vec<Block>,
    /// The model declined, and said this.
    pub refusal: Option<String>,
    /// The participant's name.
    pub name: Option<String>,
    /// A call in the legacy form, kept for old histories; [`AssistantMessage::tool_calls`] does not list it.
    pub function_call: Option<FunctionCall>,
    /// Spoken answer, as the API has it.
    pub audio: Option<Value>,
    /// Citations and the like, as the API has them.
    pub annotations: Option<Value>,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members that have no field.
    pub extra: Extra,
}

/// One block of an assistant message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Visible text.
    Text(TextBlock),
    /// The model declined, as a part of its content.
    Refusal(RefusalPart),
    /// Reasoning, visible or sealed.
    Reasoning(Reasoning),
    /// A call of a tool.
    Call(Arc<ToolCall>),
    /// An item of a tool that the vendor ran itself; it goes back to that vendor verbatim.
    Hosted(VendorData),
    /// A content part this crate does not know, as raw JSON.
    Other(Value),
}

/// Visible text of a reply.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// What the vendor wants back with it.
    pub vendor: Option<VendorData>,
    /// Cache mark and origin.
    pub marks: Marks,
    /// Members of the content part that have no field.
    pub extra: Extra,
}

/// A stretch of reasoning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reasoning {
    /// Readable text; may be empty when the vendor seals it.
    pub text: String,
    /// The vendor's signature or encrypted form, wanted back unchanged.
    pub vendor: Option<VendorData>,
}

impl Reasoning {
    /// Reasoning that is only text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            vendor: None,
        }
    }

    /// Adds what the vendor wants back.
    pub fn with_vendor(mut self, vendor: VendorData) -> Self {
        self.vendor = Some(vendor);
        self
    }
}

/// The legacy form of a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionCall {
    /// The function's name.
    pub name: String,
    /// Its arguments as JSON text.
    pub arguments: String,
    /// Members that have no field.
    pub extra: Extra,
}
object!(FunctionCall: "a legacy function call" { "name" => name [always], "arguments" => arguments [always] });

impl Block {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            ..TextBlock::default()
        })
    }

    /// A block of reasoning text.
    pub fn reasoning(text: impl Into<String>) -> Self {
        Self::Reasoning(Reasoning::new(text))
    }
}

impl From<ToolCall> for Block {
    fn from(call: ToolCall) -> Self {
        Self::Call(Arc::new(call))
    }
}

impl AssistantMessage {
    /// A message of one text block; none when the text is empty.
    pub fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        let blocks = if text.is_empty() {
            Vec::new()
        } else {
            vec![Block::text(text)]
        };
        Self {
            blocks,
            ..Self::default()
        }
    }

    /// A message of these blocks.
    pub fn from_blocks(blocks: impl IntoIterator<Item = Block>) -> Self {
        Self {
            blocks: blocks.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Adds a call.
    pub fn with_call(mut self, call: impl Into<Arc<ToolCall>>) -> Self {
        self.blocks.push(Block::Call(call.into()));
        self
    }

    /// Adds reasoning.
    pub fn with_reasoning(mut self, reasoning: Reasoning) -> Self {
        self.blocks.push(Block::Reasoning(reasoning));
        self
    }

    /// All visible text, blocks joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        joined(self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        }))
    }

    /// All readable reasoning, blocks joined without a separator.
    pub fn reasoning(&self) -> Cow<'_, str> {
        joined(self.blocks.iter().filter_map(|block| match block {
            Block::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            _ => None,
        }))
    }

    /// The calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.shared_calls().map(|call| &**call)
    }

    /// The calls, in order, for whoever keeps them.
    pub fn shared_calls(&self) -> impl Iterator<Item = &Arc<ToolCall>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Whether the model asks for tools.
    pub fn has_tool_calls(&self) -> bool {
        self.tool_calls().next().is_some()
    }

    /// What the model said when it declined, in the member or in parts.
    pub fn refusal_text(&self) -> Option<&str> {
        let member = self.refusal.as_deref().filter(|text| !text.is_empty());
        member.or_else(|| {
            self.blocks.iter().find_map(|block| match block {
                Block::Refusal(part) => Some(part.refusal.as_str()),
                _ => None,
            })
        })
    }

    /// Whether the message says nothing at all.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
            && self.refusal.is_none()
            && self.function_call.is_none()
            && self.audio.is_none()
            && self.extra.is_empty()
    }
}

/// Texts joined; a single one is borrowed.
fn joined<'a>(mut texts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    match texts.next() {
        None => Cow::Borrowed(first),
        Some(second) => Cow::Owned([first, second].into_iter().chain(texts).collect()),
    }
}
