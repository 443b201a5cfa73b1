//! What the model says, free of any vendor's spelling.

use serde::Deserialize;
use serde_json::Value;

use super::call::ToolCall;
use super::usage::{TokenUsage, tokens_of};

/// An answer of the model: blocks in order, why it ended, what it cost. Each wire renders it whole and streamed.
///
/// ```
/// use agcore_testkit::mock_server::{Answer, Finish};
///
/// let answer = Answer::new().with_reasoning("The user is in a hurry.").with_text("Yes.");
/// assert_eq!(answer.finish(), Finish::Stop);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    pub(crate) blocks: Vec<Block>,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: UsageRule,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) reasoning_member: Option<String>,
    pub(crate) extra: Vec<(String, Value)>,
}

/// One block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    Text(String),
    Refusal(String),
    Reasoning {
        text: String,
        /// Anthropic's `signature`, Responses' `encrypted_content`; the other wires have no place for it.
        seal: Option<String>,
    },
    /// Reasoning that only the vendor can read: Anthropic's `redacted_thinking`.
    Redacted(String),
    Call(ToolCall),
}

/// Why an answer ended. Each wire has its own word for it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// The model was done.
    Stop,
    /// The token limit cut it.
    Length,
    /// It waits for tool results.
    ToolCalls,
    /// A filter cut it.
    ContentFilter,
    /// It refused.
    Refusal,
    /// The given text, written as it is.
    Other(String),
}

/// Where the counts of a reply come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UsageRule {
    /// Estimated from the lengths of request and answer.
    #[default]
    Estimate,
    Fixed(TokenUsage),
    Absent,
}

impl Answer {
    /// An answer without any block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a block of text.
    #[must_use]
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Text(text.into()))
    }

    /// Adds a block of readable reasoning.
    #[must_use]
    pub fn with_reasoning(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Reasoning {
            text: text.into(),
            seal: None,
        })
    }

    /// Adds reasoning with the opaque seal (signature, encrypted content) that its vendor wants back.
    #[must_use]
    pub fn with_sealed_reasoning(self, text: impl Into<String>, seal: impl Into<String>) -> Self {
        self.with_block(Block::Reasoning {
            text: text.into(),
            seal: Some(seal.into()),
        })
    }

    /// Adds reasoning that only its vendor can read (Anthropic's `redacted_thinking`; other wires leave it out).
    #[must_use]
    pub fn with_redacted_reasoning(self, data: impl Into<String>) -> Self {
        self.with_block(Block::Redacted(data.into()))
    }

    /// Adds a refusal.
    #[must_use]
    pub fn with_refusal(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Refusal(text.into()))
    }

    /// Adds a tool call.
    #[must_use]
    pub fn with_call(self, call: ToolCall) -> Self {
        self.with_block(Block::Call(call))
    }

    /// Fixes the finish reason; without it, it follows from the blocks.
    #[must_use]
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Fixes the token counts; without it, they are estimated from lengths.
    #[must_use]
    pub fn with_usage(mut self, usage: TokenUsage) -> Self {
        self.usage = UsageRule::Fixed(usage);
        self
    }

    /// Sends no token counts at all.
    #[must_use]
    pub fn without_usage(mut self) -> Self {
        self.usage = UsageRule::Absent;
        self
    }

    /// Names a model in the reply other than the one asked for.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Fixes the reply's id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The chat wire's member for reasoning: `reasoning_content` unless said otherwise (vLLM, Groq: `reasoning`).
    #[must_use]
    pub fn with_reasoning_member(mut self, name: impl Into<String>) -> Self {
        self.reasoning_member = Some(name.into());
        self
    }

    /// Adds a top-level member to the body and to each streamed chunk of the chat and Ollama wires, as
    /// `service_tier` or `timings`.
    #[must_use]
    pub fn with_extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.push((name.into(), value));
        self
    }

    /// The finish reason: the fixed one, or what follows from the blocks.
    pub fn finish(&self) -> Finish {
        if let Some(finish) = &self.finish {
            return finish.clone();
        }
        if self.calls().next().is_some() {
            Finish::ToolCalls
        } else if self.blocks.iter().any(|block| matches!(block, Block::Refusal(_))) {
            Finish::Refusal
        } else {
            Finish::Stop
        }
    }

    /// The calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Refusal(_) | Block::Reasoning { .. } | Block::Redacted(_) => None,
        })
    }

    /// The same, to change them.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut ToolCall> {
        self.blocks.iter_mut().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Refusal(_) | Block::Reasoning { .. } | Block::Redacted(_) => None,
        })
    }

    /// All visible text.
    pub(crate) fn text(&self) -> String {
        self.joined(|block| match block {
            Block::Text(text) => Some(text),
            Block::Refusal(_) | Block::Reasoning { .. } | Block::Redacted(_) | Block::Call(_) => None,
        })
    }

    /// All readable reasoning.
    pub(crate) fn reasoning(&self) -> String {
        self.joined(|block| match block {
            Block::Reasoning { text, .. } => Some(text),
            Block::Text(_) | Block::Refusal(_) | Block::Redacted(_) | Block::Call(_) => None,
        })
    }

    /// All refusal text.
    pub(crate) fn refusal(&self) -> String {
        self.joined(|block| match block {
            Block::Refusal(text) => Some(text),
            Block::Text(_) | Block::Reasoning { .. } | Block::Redacted(_) | Block::Call(_) => None,
        })
    }

    /// The counts to send for an answer to a prompt of `input` tokens.
    pub(crate) fn usage_for(&self, input: u64) -> Option<TokenUsage> {
        match self.usage {
            UsageRule::Absent => None,
            UsageRule::Fixed(usage) => Some(usage),
            UsageRule::Estimate => {
                let reasoning = tokens_of(&self.reasoning());
                let calls: u64 = self
                    .calls()
                    .map(|call| tokens_of(&call.name) + tokens_of(&call.arguments))
                    .sum();
                let output = tokens_of(&self.text()) + tokens_of(&self.refusal()) + calls + reasoning;
                let usage = TokenUsage::new(input, output);
                Some(if reasoning > 0 {
                    usage.with_reasoning(reasoning)
                } else {
                    usage
                })
            }
        }
    }

    fn with_block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }

    fn joined<'a>(&'a self, pick: impl Fn(&'a Block) -> Option<&'a String>) -> String {
        self.blocks.iter().filter_map(pick).map(String::as_str).collect()
    }
}
