//! The contents of lines about a turn: messages, and what happens to the conversation.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{failure::ErrorInfo, tokens::Tokens};

/// The start of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct TurnStart {
    /// The agent that answers.
    pub agent: String,
}

/// A complete message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Message {
    /// The author.
    pub role: Role,
    /// Its text.
    pub text: String,
    /// Whether this is the answer. At most one message of a turn is.
    pub r#final: bool,
    /// Whether the reply broke off, so that the rest of this message is missing.
    pub partial: bool,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions for the model.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
}

/// A text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Text {
    /// The text.
    pub text: String,
}

/// A change of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct PlanStep {
    /// The plan's id.
    pub plan: String,
    /// The position of the step, from 0.
    pub index: u32,
    /// The new status: `running`, `completed`, `failed` or `skipped`.
    pub status: String,
    /// The work to do.
    pub description: String,
}

/// A change of the agent that answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Handoff {
    /// The agent that had the conversation.
    pub from: String,
    /// The agent that has it from now on.
    pub to: String,
}

/// A shortened conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Compaction {
    /// `prune` if old tool results were removed, `summary` if the model summarized the older part; null after a failure.
    pub method: Option<String>,
    /// The estimated tokens of a request before.
    pub tokens_before: Option<u64>,
    /// The estimated tokens of a request after.
    pub tokens_after: Option<u64>,
    /// The reason that it failed; null if it did not.
    pub error: Option<ErrorInfo>,
}

/// The tokens of one model call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct CallUsage {
    /// The provider that answered.
    pub provider: String,
    /// The model that answered.
    pub model: String,
    /// The tokens.
    #[serde(flatten)]
    pub tokens: Tokens,
}

/// A message for the user that is not a failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Warning {
    /// The text.
    pub message: String,
}

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct TurnEnd {
    /// The number of model calls of the turn, including failed ones that returned a part of an answer.
    pub num_model_calls: u64,
}
