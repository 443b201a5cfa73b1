//! [`Answer`]: what the model answers, independent of any API.

use serde::Deserialize;
use serde_json::Value;

use crate::mock_server::reply::{TokenUsage, ToolCall, estimate_tokens};

/// An answer of the model: its content blocks in order, its finish reason and its token usage. Each API renders it
/// as a single body or as a stream.
///
/// ```
/// use agcore_testkit::mock_server::{Answer, Finish, ToolCall};
/// use serde_json::json;
///
/// let answer = Answer::new().with_reasoning("The user is in a hurry.").with_text("Yes.");
/// assert_eq!(answer.finish(), Finish::Stop);
///
/// let answer = answer.with_call(ToolCall::new("weather", &json!({ "city": "Lisbon" })));
/// assert_eq!(answer.finish(), Finish::ToolCalls);
/// assert_eq!(answer.with_finish(Finish::Length).finish(), Finish::Length);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[must_use]
pub struct Answer {
    pub(crate) blocks: Vec<Block>,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: UsageRule,
    pub(crate) model: Option<String>,
    pub(crate) id: Option<String>,
    pub(crate) reasoning_member: Option<String>,
    pub(crate) extra: Vec<(String, Value)>,
}

/// One content block of an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Block {
    Text(String),
    Refusal(String),
    Reasoning {
        text: String,
        /// Anthropic's `signature` or the `encrypted_content` of OpenAI Responses; the other APIs omit it.
        signature: Option<String>,
    },
    /// Reasoning that only the vendor can decrypt: Anthropic's `redacted_thinking`.
    Redacted(String),
    Call(ToolCall),
}

/// The reason why an answer ended. Each API spells it differently.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Finish {
    /// The model finished its answer.
    Stop,
    /// The answer reached the token limit.
    Length,
    /// The model is waiting for tool results.
    ToolCalls,
    /// A content filter cut the answer off.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// Any other reason, written verbatim.
    Other(String),
}

/// The source of the token counts of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum UsageRule {
    /// Estimated from the lengths of the request and the answer.
    #[default]
    Estimate,
    Fixed(TokenUsage),
    Absent,
}

impl Answer {
    /// Creates an answer without any content.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text block.
    pub fn with_text(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Text(text.into()))
    }

    /// Adds a block of plain-text reasoning.
    pub fn with_reasoning(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Reasoning {
            text: text.into(),
            signature: None,
        })
    }

    /// Adds reasoning with an opaque signature (or encrypted content) that clients must send back to the vendor.
    pub fn with_signed_reasoning(self, text: impl Into<String>, signature: impl Into<String>) -> Self {
        self.with_block(Block::Reasoning {
            text: text.into(),
            signature: Some(signature.into()),
        })
    }

    /// Adds reasoning that only the vendor can decrypt: Anthropic's `redacted_thinking` and the `encrypted_content` of
    /// OpenAI Responses. The other APIs omit it.
    pub fn with_redacted_reasoning(self, data: impl Into<String>) -> Self {
        self.with_block(Block::Redacted(data.into()))
    }

    /// Adds a refusal.
    pub fn with_refusal(self, text: impl Into<String>) -> Self {
        self.with_block(Block::Refusal(text.into()))
    }

    /// Adds a tool call.
    pub fn with_call(self, call: ToolCall) -> Self {
        self.with_block(Block::Call(call))
    }

    /// Sets the finish reason. By default it is derived from the blocks.
    pub fn with_finish(mut self, finish: Finish) -> Self {
        self.finish = Some(finish);
        self
    }

    /// Sets the token counts. By default they are estimated from the lengths of the request and the answer.
    pub fn with_usage(mut self, usage: TokenUsage) -> Self {
        self.usage = UsageRule::Fixed(usage);
        self
    }

    /// Omits the token counts from the reply.
    pub fn without_usage(mut self) -> Self {
        self.usage = UsageRule::Absent;
        self
    }

    /// Sets the model named in the reply. By default it is the requested model.
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Sets the id of the reply. By default it is derived from the request number.
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Sets the JSON member that carries reasoning in Chat Completions: `reasoning_content` by default; vLLM and Groq
    /// use `reasoning`.
    pub fn with_reasoning_member(mut self, name: impl Into<String>) -> Self {
        self.reasoning_member = Some(name.into());
        self
    }

    /// Adds a top-level JSON member, such as `service_tier` or `timings`, to the body and to each streamed chunk of
    /// Chat Completions and Ollama replies.
    pub fn with_extra(mut self, name: impl Into<String>, value: Value) -> Self {
        self.extra.push((name.into(), value));
        self
    }

    /// Returns the finish reason: the one that was set, or the one derived from the blocks.
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

    /// Returns the tool calls in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Refusal(_) | Block::Reasoning { .. } | Block::Redacted(_) => None,
        })
    }

    /// Returns the tool calls in order, for modification.
    pub(crate) fn calls_mut(&mut self) -> impl Iterator<Item = &mut ToolCall> {
        self.blocks.iter_mut().filter_map(|block| match block {
            Block::Call(call) => Some(call),
            Block::Text(_) | Block::Refusal(_) | Block::Reasoning { .. } | Block::Redacted(_) => None,
        })
    }

    /// Returns all text blocks, concatenated.
    pub fn text(&self) -> String {
        self.joined(|block| match block {
            Block::Text(text) => Some(text),
            Block::Refusal(_) | Block::Reasoning { .. } | Block::Redacted(_) | Block::Call(_) => None,
        })
    }

    /// Returns all plain-text reasoning, concatenated.
    pub(crate) fn reasoning(&self) -> String {
        self.joined(|block| match block {
            Block::Reasoning { text, .. } => Some(text),
            Block::Text(_) | Block::Refusal(_) | Block::Redacted(_) | Block::Call(_) => None,
        })
    }

    /// Returns all refusals, concatenated.
    pub(crate) fn refusal(&self) -> String {
        self.joined(|block| match block {
            Block::Refusal(text) => Some(text),
            Block::Text(_) | Block::Reasoning { .. } | Block::Redacted(_) | Block::Call(_) => None,
        })
    }

    /// Returns the token counts to report for an answer to a prompt of `input` tokens.
    pub(crate) fn usage_for(&self, input: u64) -> Option<TokenUsage> {
        match self.usage {
            UsageRule::Absent => None,
            UsageRule::Fixed(usage) => Some(usage),
            UsageRule::Estimate => {
                let reasoning = estimate_tokens(&self.reasoning());
                let calls: u64 = self
                    .calls()
                    .map(|call| estimate_tokens(&call.name) + estimate_tokens(&call.arguments))
                    .sum();
                let output = estimate_tokens(&self.text()) + estimate_tokens(&self.refusal()) + calls + reasoning;
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
