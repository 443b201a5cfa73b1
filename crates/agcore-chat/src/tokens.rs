//! [`TokenEstimator`]: the contract for estimating numbers of tokens before a server reports them.

mod heuristic;

pub use heuristic::{TokenizerFamily, estimate_text};

use std::sync::Arc;

use crate::{
    content::{Content, part::ContentPart},
    conversation::{assistant::Block, message::Message},
    request::ChatRequest,
    tool::Tool,
};

/// Tokens of a message's role and delimiters, after OpenAI's cookbook on counting tokens.
const MESSAGE: u64 = 4;
/// Tokens of the delimiters around a call or a tool.
const CALL: u64 = 8;
/// Tokens of an image in low detail, after OpenAI's pricing of vision input.
const IMAGE_LOW: u64 = 85;
/// Tokens of an image of 1024 × 1024 in high detail, after the same. The actual size is unknown without decoding it.
const IMAGE: u64 = 765;
/// Bytes of base64 text per token of audio: about 10 tokens a second, for recordings of 32 kB a second.
const AUDIO_BYTES_PER_TOKEN: u64 = 4_267;
/// Bytes of base64 text per token of a file whose text is unknown: about four bytes of text per token.
const FILE_BYTES_PER_TOKEN: u64 = 5;

/// The largest possible estimate per byte of any text.
const MAX_TOKENS_PER_BYTE: u64 = 2;

/// Estimates numbers of tokens.
///
/// Implementations provide [`text`](Self::text); the estimates of messages, tools and requests are sums of it.
///
/// ```
/// use agcore_chat::{Message, TokenEstimator};
///
/// /// Estimates one token per four bytes.
/// struct FourBytes;
///
/// impl TokenEstimator for FourBytes {
///     fn text(&self, text: &str) -> u64 {
///         text.len().div_ceil(4) as u64
///     }
/// }
///
/// assert_eq!(FourBytes.text("twelve bytes"), 3);
/// assert!(FourBytes.message(&Message::user("twelve bytes")) > 3);
/// ```
pub trait TokenEstimator: Send + Sync {
    /// Estimates the tokens of a text.
    fn text(&self, text: &str) -> u64;

    /// Returns an upper bound of the estimate for any text of this length in bytes, or `None` if there is no known
    /// bound.
    ///
    /// With a bound, callers can skip the estimate of texts that are small enough in any case. This is valid only as
    /// long as the estimates of messages and tools are sums, as in the default implementations of
    /// [`message`](Self::message) and [`tool`](Self::tool).
    fn text_upper_bound(&self, bytes: usize) -> Option<u64> {
        let _ = bytes;
        None
    }

    /// Estimates the tokens of a message: text, reasoning, calls, images.
    fn message(&self, message: &Message) -> u64 {
        let contents = match message {
            Message::Developer(message) | Message::System(message) => self.content(&message.content),
            Message::User(message) => self.content(&message.content),
            Message::Tool(message) => self.content(&message.content),
            Message::Function(message) => self.text(message.content.as_deref().unwrap_or("")),
            Message::Assistant(message) => {
                let blocks = message.blocks.iter().map(|block| self.block(block));
                blocks.fold(self.text(message.refusal.as_deref().unwrap_or("")), u64::saturating_add)
            }
        };
        contents.saturating_add(MESSAGE)
    }

    /// Estimates the tokens of a block of an assistant message.
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

    /// Estimates the tokens of a message's content.
    fn content(&self, content: &Content) -> u64 {
        match content {
            Content::Text(text) => self.text(text),
            Content::Parts(parts) => parts.iter().map(|part| self.part(part)).fold(0, u64::saturating_add),
        }
    }

    /// Estimates the tokens of a content part.
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

    /// Estimates the tokens of a tool's definition.
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

    /// Estimates the tokens of a list of messages.
    fn messages(&self, messages: &[Arc<Message>]) -> u64 {
        messages
            .iter()
            .map(|message| self.message(message))
            .fold(0, u64::saturating_add)
    }

    /// Estimates the tokens of a request's prompt: its messages and tools.
    fn request(&self, request: &ChatRequest) -> u64 {
        let tools = request.tools.iter().map(|tool| self.tool(tool));
        tools.fold(self.messages(&request.messages), u64::saturating_add)
    }
}

/// A token estimator without a tokenizer's vocabulary: within ±15 % of its family's tokenizer on ordinary text.
///
/// ```
/// use agcore_chat::{HeuristicEstimator, Message, TokenEstimator, TokenizerFamily};
///
/// let estimator = HeuristicEstimator::new(TokenizerFamily::O200k);
/// assert_eq!(estimator.text("hello world"), 2);
/// assert_eq!(estimator.message(&Message::user("hello world")), 6);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeuristicEstimator {
    /// The tokenizers whose counts are estimated.
    pub family: TokenizerFamily,
}

impl HeuristicEstimator {
    /// Creates an estimator for a family of tokenizers.
    pub fn new(family: TokenizerFamily) -> Self {
        Self { family }
    }
}

impl TokenEstimator for HeuristicEstimator {
    fn text(&self, text: &str) -> u64 {
        estimate_text(text, self.family)
    }

    fn text_upper_bound(&self, bytes: usize) -> Option<u64> {
        u64::try_from(bytes).ok()?.checked_mul(MAX_TOKENS_PER_BYTE)
    }
}
