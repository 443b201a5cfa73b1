//! [`AssistantMessage`]: a message of the model as a sequence of [`Block`]s.

mod wire;

use std::{borrow::Cow, sync::Arc};

use serde_json::Value;

use crate::{
    content::{marks::Marks, part::RefusalPart},
    object::{Extra, object},
    tool::call::{ToolCall, VendorData},
};

/// A message of the model: its blocks in the order in which the model produced them.
///
/// Its JSON form is a plain assistant message of the Chat Completions API, with reasoning text in `reasoning_content`.
/// What this form cannot express (the order of mixed blocks, data that has to be sent back to a vendor) is stored in
/// one extension member.
///
/// ```
/// use agcore_chat::{AssistantMessage, Block, ToolCall};
///
/// let message = AssistantMessage::from_blocks([
///     Block::reasoning("I need the weather."),
///     Block::text("Let me look."),
///     ToolCall::function("call_1", "weather", "{}").into(),
/// ]);
/// assert_eq!(message.text(), "Let me look.");
/// assert_eq!(message.reasoning(), "I need the weather.");
/// assert!(message.tool_calls().any(|call| call.name == "weather"));
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AssistantMessage {
    /// Text, reasoning, calls and hosted items, in order.
    pub blocks: Vec<Block>,
    /// The model's explanation, if it declined to answer.
    pub refusal: Option<String>,
    /// The name of the participant.
    pub name: Option<String>,
    /// A call in the legacy form, kept for old histories; [`AssistantMessage::tool_calls`] does not list it.
    pub function_call: Option<FunctionCall>,
    /// A spoken answer, as defined by the API.
    pub audio: Option<Value>,
    /// Citations and similar annotations, as defined by the API.
    pub annotations: Option<Value>,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members without a field of their own.
    pub extra: Extra,
}

/// One block of an assistant message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Block {
    /// Visible text.
    Text(TextBlock),
    /// A refusal, as a part of the content.
    Refusal(RefusalPart),
    /// Reasoning, readable or encrypted.
    Reasoning(Reasoning),
    /// A tool call.
    Call(Arc<ToolCall>),
    /// An item of a tool that the vendor ran itself; it is sent back to that vendor unchanged.
    Hosted(VendorData),
    /// A content part of unknown type, as raw JSON.
    Other(Value),
}

/// A block of visible text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TextBlock {
    /// The text.
    pub text: String,
    /// Data that has to be sent back to the vendor with this text.
    pub vendor: Option<VendorData>,
    /// The cache mark and the origin.
    pub marks: Marks,
    /// Members of the content part without a field of their own.
    pub extra: Extra,
}

/// A block of reasoning.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reasoning {
    /// The readable text; may be empty if the vendor encrypts it.
    pub text: String,
    /// The vendor's signature or encrypted form, which has to be sent back unchanged.
    pub vendor: Option<VendorData>,
}

impl Reasoning {
    /// Creates reasoning of plain text.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            vendor: None,
        }
    }

    /// Sets the data that has to be sent back to the vendor.
    #[must_use]
    pub fn with_vendor(mut self, vendor: VendorData) -> Self {
        self.vendor = Some(vendor);
        self
    }
}

/// A call in the legacy form.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionCall {
    /// The name of the function.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
    /// Members without a field of their own.
    pub extra: Extra,
}
object!(FunctionCall: "a legacy function call" { "name" => name [always], "arguments" => arguments [always] });

impl Block {
    /// Creates a block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock {
            text: text.into(),
            ..TextBlock::default()
        })
    }

    /// Creates a block of readable reasoning.
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
    /// Creates a message of one text block, or of no block if the text is empty.
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

    /// Creates a message of these blocks.
    pub fn from_blocks(blocks: impl IntoIterator<Item = Block>) -> Self {
        Self {
            blocks: blocks.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Appends a call.
    #[must_use]
    pub fn with_call(mut self, call: impl Into<Arc<ToolCall>>) -> Self {
        self.blocks.push(Block::Call(call.into()));
        self
    }

    /// Appends a block of reasoning.
    #[must_use]
    pub fn with_reasoning(mut self, reasoning: Reasoning) -> Self {
        self.blocks.push(Block::Reasoning(reasoning));
        self
    }

    /// Returns all visible text, blocks joined without a separator.
    pub fn text(&self) -> Cow<'_, str> {
        joined(self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) => Some(text.text.as_str()),
            _ => None,
        }))
    }

    /// Returns all readable reasoning, blocks joined without a separator.
    pub fn reasoning(&self) -> Cow<'_, str> {
        joined(self.blocks.iter().filter_map(|block| match block {
            Block::Reasoning(reasoning) => Some(reasoning.text.as_str()),
            _ => None,
        }))
    }

    /// Returns the calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.shared_calls().map(|call| &**call)
    }

    /// Returns the calls, in order, as shared pointers that can be stored cheaply.
    pub fn shared_calls(&self) -> impl Iterator<Item = &Arc<ToolCall>> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            _ => None,
        })
    }

    /// Returns whether the model calls any tool.
    pub fn has_tool_calls(&self) -> bool {
        self.tool_calls().next().is_some()
    }

    /// Returns the model's explanation if it declined to answer, whether in the `refusal` member or in a part.
    pub fn refusal_text(&self) -> Option<&str> {
        let member = self.refusal.as_deref().filter(|text| !text.is_empty());
        member.or_else(|| {
            self.blocks.iter().find_map(|block| match block {
                Block::Refusal(part) => Some(part.refusal.as_str()),
                _ => None,
            })
        })
    }

    /// Returns whether the message has no content of any kind.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
            && self.refusal.is_none()
            && self.function_call.is_none()
            && self.audio.is_none()
            && self.extra.is_empty()
    }
}

/// Concatenates texts; borrows if there is only one.
fn joined<'a>(mut texts: impl Iterator<Item = &'a str>) -> Cow<'a, str> {
    let Some(first) = texts.next() else {
        return Cow::Borrowed("");
    };
    match texts.next() {
        None => Cow::Borrowed(first),
        Some(second) => Cow::Owned([first, second].into_iter().chain(texts).collect()),
    }
}
