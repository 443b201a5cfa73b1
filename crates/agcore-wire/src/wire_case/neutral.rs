//! [`NeutralResult`]: the content of a reply in a form that is the same for every API.

use agcore_chat::{ChatResponse, FinishReason, ToolCall, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::LlmError;

/// The content of a decoded reply.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeutralResult {
    /// The id of the case.
    pub id: String,
    /// `complete` or `error`.
    pub outcome: String,
    /// All visible text; if there is an error, what arrived before it.
    pub text: String,
    /// All reasoning text.
    pub reasoning: String,
    /// The text of a refusal.
    pub refusal: Option<String>,
    /// The tool calls, in order of appearance.
    pub tool_calls: Vec<NeutralCall>,
    /// `stop`, `length`, `tool_calls`, `content_filter`, `refusal` or `other`; `None` if there is an error.
    pub finish: Option<String>,
    /// The token usage, if the server reported any.
    pub usage: Option<NeutralUsage>,
    /// The error that ended the reply.
    pub error: Option<NeutralError>,
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeutralCall {
    /// The id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The parsed arguments; `null` if they are not valid JSON.
    pub arguments: Value,
    /// The arguments as received, if they are not valid JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments_raw: Option<String>,
}

/// Token usage. Numbers that the server did not report are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeutralUsage {
    /// All prompt tokens.
    pub input: Option<u64>,
    /// All generated tokens.
    pub output: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cached: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write: Option<u64>,
    /// Generated tokens that were reasoning.
    pub reasoning: Option<u64>,
}

/// The error that ended a reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NeutralError {
    /// The name of the [fault kind](agcore_chat::FaultKind).
    pub kind: String,
    /// Whether the same call may succeed later.
    pub retryable: bool,
    /// The time that the server asks to wait.
    pub retry_after_ms: Option<u64>,
    /// The message.
    pub message: String,
}

impl NeutralResult {
    /// Creates the result of a reply from what arrived and the error that ended it, if any.
    pub fn new(id: &str, response: ChatResponse, error: Option<&LlmError>) -> Self {
        let usage = response.usage.as_ref().and_then(NeutralUsage::new);
        let choice = response.choices.into_iter().next().unwrap_or_default();
        let message = choice.message;
        let refusal = message
            .refusal_text()
            .filter(|text| !text.is_empty())
            .map(str::to_owned);
        let finish = choice.finish_reason.unwrap_or(FinishReason::Other("".into()));
        let is_cut = error.is_some() || matches!(finish, FinishReason::Length | FinishReason::ContentFilter);
        Self {
            id: id.to_owned(),
            outcome: if error.is_some() { "error" } else { "complete" }.to_owned(),
            text: message.text().into_owned(),
            reasoning: message.reasoning().into_owned(),
            tool_calls: message
                .tool_calls()
                .map(|call| NeutralCall::new(call, is_cut))
                .collect(),
            finish: error
                .is_none()
                .then(|| finish_name(&finish, refusal.is_some()).to_owned()),
            refusal,
            usage,
            error: error.map(NeutralError::new),
        }
    }
}

fn finish_name(finish: &FinishReason, is_refused: bool) -> &'static str {
    match finish {
        FinishReason::Stop if is_refused => "refusal",
        FinishReason::Stop => "stop",
        FinishReason::Length => "length",
        FinishReason::ToolCalls | FinishReason::FunctionCall => "tool_calls",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Refusal => "refusal",
        _ => "other",
    }
}

impl NeutralCall {
    /// Empty arguments are valid in a complete reply, and missing in one that was cut off.
    fn new(call: &ToolCall, is_cut: bool) -> Self {
        let raw = call.raw_input();
        let parsed = if raw.trim().is_empty() && !is_cut {
            Some(Value::Object(serde_json::Map::new()))
        } else {
            serde_json::from_str(raw).ok()
        };
        let arguments_raw = parsed.is_none().then(|| raw.to_owned());
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            arguments: parsed.unwrap_or_default(),
            arguments_raw,
        }
    }
}

impl NeutralUsage {
    fn new(usage: &Usage) -> Option<Self> {
        let neutral = Self {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            cached: usage.cached(),
            cache_write: usage.cache_write(),
            reasoning: usage.reasoning(),
        };
        let Self {
            input,
            output,
            cached,
            cache_write,
            reasoning,
        } = &neutral;
        let is_known = [input, output, cached, cache_write, reasoning]
            .into_iter()
            .any(Option::is_some);
        is_known.then_some(neutral)
    }
}

impl NeutralError {
    fn new(error: &LlmError) -> Self {
        Self {
            kind: error.kind().fault_kind().as_str().to_owned(),
            retryable: error.is_retryable(),
            retry_after_ms: error
                .retry_after()
                .map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)),
            message: error.message().to_owned(),
        }
    }
}
