//! [`TokenEstimator`]: how many tokens something is, before a server says.

mod heuristic;

pub use heuristic::{TokenizerFamily, estimate_text};

use std::sync::Arc;

use crate::{
    assistant::Block,
    content::{Content, ContentPart},
    message::Message,
    request::ChatRequest,
    tool::Tool,
};

/// Every message costs its role and borders; figures after OpenAI's cookbook on counting tokens.
const MESSAGE: u64 = 4;
/// Every call or tool costs some borders of its own.
const CALL: u64 = 8;
/// A picture in low detail, after OpenAI's pricing of vision input.
const IMAGE_LOW: u64 = 85;
/// A picture of 1024 × 1024 in high detail, after the same; the size is not known without reading it.
const IMAGE: u64 = 765;
/// About 10 tokens a second for sound of 32 kB a second, in base64 text.
const AUDIO_BYTES_PER_TOKEN: u64 = 4_267;
/// A file whose text is not known: about four bytes of base64 a token.
const FILE_BYTES_PER_TOKEN: u64 = 5;

/// A text's estimate is never larger for each of its bytes, whatever it is made of.
const MOST_PER_BYTE: u64 = 2;

/// Estimates tokens. One method to implement; messages, tools and requests are sums.
pub trait TokenEstimator: Send + Sync {
    /// Tokens of a text.
    fn text(&self, text: &str) -> u64;

    /// As many tokens as any text of so many bytes has at most, where that is known without reading it; otherwise `None`.
    ///
    /// Whoever knows it is asked less often: what is small by this is not counted. It is of use only where messages are
    /// sums, as below.
    fn text_at_most(&self, bytes: usize) -> Option<u64> {
        let _ = bytes;
        None
    }

    /// Tokens of a message with all that is in it: text, reasoning, calls, pictures.
    fn message(&self, message: &Message) -> u64 {
        let inside = match message {
            Message::Developer(message) | Message::System(message) => self.content(&message.content),
            Message::User(message) => self.content(&message.content),
            Message::Tool(message) => self.content(&message.content),
            Message::Function(message) => self.text(message.content.as_deref().unwrap_or("")),
            Message::Assistant(message) => {
                let blocks = message.blocks.iter().map(|block| self.block(block));
                blocks.fold(self.text(message.refusal.as_deref().unwrap_or("")), u64::saturating_add)
            }
        };
        inside.saturating_add(MESSAGE)
    }

    /// Tokens of a block of an assistant message.
    fn block(&self, block: &Block) -> u64 {
        match block {
            Block::Text(block) => self.text(&block.text),
            Block::Refusal(part) => self.text(&part.refusal),
            Block::Reasoning(reasoning) => self.text(&reasoning.text),
            Block::Call(call) => self
                .text(&call.name)
                .saturating_add(self.text(call.raw_input()))
                .saturating_add(CALL),
            Block::Hosted(item) => self.text(&item.data.to_string()),
            Block::Other(raw) => self.text(&raw.to_string()),
        }
    }

    /// Tokens of a message's content.
    fn content(&self, content: &Content) -> u64 {
        match content {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => parts.iter().map(|part| self.part(part)).fold(0, u64::saturating_add),
        }
    }

    /// Tokens of a content part.
    fn part(&self, part: &ContentPart) -> u64 {
        let length = |data: &str| u64::try_from(data.len()).unwrap_or(u64::MAX);
        match part {
            ContentPart::Text(part) => self.text(&part.text),
            ContentPart::Refusal(part) => self.text(&part.refusal),
            ContentPart::ImageUrl(part) if part.image_url.detail.as_deref() == Some("low") => IMAGE_LOW,
            ContentPart::ImageUrl(_) => IMAGE,
            ContentPart::InputAudio(part) => length(&part.input_audio.data).div_ceil(AUDIO_BYTES_PER_TOKEN),
            ContentPart::File(part) => {
                length(part.file.file_data.as_deref().unwrap_or("")).div_ceil(FILE_BYTES_PER_TOKEN)
            }
            ContentPart::Other(raw) => self.text(&raw.to_string()),
        }
    }

    /// Tokens of a tool's definition.
    fn tool(&self, tool: &Tool) -> u64 {
        let (name, description, schema) = match tool {
            Tool::Function(tool) => (&*tool.name, tool.description.as_deref(), tool.parameters.as_ref()),
            Tool::Custom(tool) => (&*tool.name, tool.description.as_deref(), tool.format.as_ref()),
            Tool::Hosted(raw) => ("", None, Some(raw)),
        };
        let schema = schema.map_or(0, |schema| self.text(&schema.to_string()));
        [self.text(name), self.text(description.unwrap_or("")), schema, CALL]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// Tokens of messages.
    fn messages(&self, messages: &[Arc<Message>]) -> u64 {
        messages
            .iter()
            .map(|message| self.message(message))
            .fold(0, u64::saturating_add)
    }

    /// Tokens of a request's prompt: messages and tools.
    fn request(&self, request: &ChatRequest) -> u64 {
        let tools = request.tools.iter().map(|tool| self.tool(tool));
        tools.fold(self.messages(&request.messages), u64::saturating_add)
    }
}

/// Estimates by the look of the text, without a tokenizer's tables: within ±15 % of its family on ordinary text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeuristicEstimator {
    /// Whose tokens are estimated.
    pub family: TokenizerFamily,
}

impl HeuristicEstimator {
    /// An estimator of a family of tokenizers.
    pub fn new(family: TokenizerFamily) -> Self {
        Self { family }
    }
}

impl TokenEstimator for HeuristicEstimator {
    fn text(&self, text: &str) -> u64 {
        estimate_text(text, self.family)
    }

    fn text_at_most(&self, bytes: usize) -> Option<u64> {
        u64::try_from(bytes).ok()?.checked_mul(MOST_PER_BYTE)
    }
}
