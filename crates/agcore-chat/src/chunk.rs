//! [`ChatChunk`]: one piece of a streamed reply, in the canonical JSON form.
//!
//! This is the form for servers, cassettes and tests. The providers of agcore-llm read streams by borrowing and do not
//! build chunks.

use serde_json::Value;

use crate::{
    finish::FinishReason,
    object::{Extra, object},
    usage::Usage,
};

/// One piece of a streamed reply. Every member is optional when read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChatChunk {
    /// The server's id of the reply.
    pub id: Option<String>,
    /// When the reply was begun, seconds since 1970.
    pub created: Option<u64>,
    /// The model, as the server names it.
    pub model: Option<String>,
    /// What came, by choice; empty for a chunk that only tells usage.
    pub choices: Vec<ChunkChoice>,
    /// Tokens used so far or in all.
    pub usage: Option<Usage>,
    /// The server's fingerprint of its own configuration.
    pub system_fingerprint: Option<String>,
    /// The service class that is used.
    pub service_tier: Option<String>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(ChatChunk: "a chunk of a streamed reply" {
    "id" => id, "created" => created, "model" => model, "choices" => choices [always], "usage" => usage,
    "system_fingerprint" => system_fingerprint, "service_tier" => service_tier,
});

/// What came for one choice.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChunkChoice {
    /// The choice's place.
    pub index: u32,
    /// What is added to it.
    pub delta: Delta,
    /// Why it stopped, in its last chunk.
    pub finish_reason: Option<FinishReason>,
    /// Log probabilities, as the API has them.
    pub logprobs: Option<Value>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(ChunkChoice: "a choice of a chunk" {
    "index" => index, "delta" => delta [always], "finish_reason" => finish_reason, "logprobs" => logprobs,
});

/// What a chunk adds to a message.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Delta {
    /// The speaker, in the first delta.
    pub role: Option<String>,
    /// More text.
    pub content: Option<String>,
    /// More of a refusal.
    pub refusal: Option<String>,
    /// More reasoning.
    pub reasoning_content: Option<String>,
    /// Pieces of calls.
    pub tool_calls: Vec<ToolCallDelta>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(Delta: "a delta" {
    "role" => role, "content" => content, "refusal" => refusal, "reasoning_content" => reasoning_content,
    "tool_calls" => tool_calls,
});

/// A piece of a tool call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolCallDelta {
    /// The call's place among the calls of the message.
    pub index: Option<u32>,
    /// The call's id, in its first piece.
    pub id: Option<String>,
    /// `function` or `custom`, in its first piece.
    pub kind: Option<String>,
    /// A piece of a function call.
    pub function: Option<FunctionDelta>,
    /// A piece of a custom call.
    pub custom: Option<CustomDelta>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(ToolCallDelta: "a piece of a tool call" {
    "index" => index, "id" => id, "type" => kind, "function" => function, "custom" => custom,
});

/// A piece of a function call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FunctionDelta {
    /// The name, in the first piece.
    pub name: Option<String>,
    /// More of the arguments' JSON text.
    pub arguments: Option<String>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(FunctionDelta: "a piece of a function call" { "name" => name, "arguments" => arguments });

/// A piece of a custom call.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CustomDelta {
    /// The name, in the first piece.
    pub name: Option<String>,
    /// More of the free text.
    pub input: Option<String>,
    /// Members that have no field.
    pub extra: Extra,
}
object!(CustomDelta: "a piece of a custom call" { "name" => name, "input" => input });
