//! [`Expectation`] of a typed turn, the [`Draft`] to check, and the [`Verdict`] on it.

use agcore_chat::{AssistantMessage, SchemaViolation, ToolCall};
use serde::{Deserialize, Serialize};

use crate::typed::OutputMode;

/// The requirements of a typed turn for its answer. The schema is not part of it: the code that checks the answer has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Expectation {
    /// How the model is asked.
    pub mode: OutputMode,
    /// The name of the tool whose arguments are the answer, in that mode.
    pub tool: String,
    /// How many times the model may correct an answer that does not fit.
    pub max_repairs: u32,
}

impl Expectation {
    /// Creates an expectation.
    pub fn new(mode: OutputMode, tool: impl Into<String>, max_repairs: u32) -> Self {
        Self {
            mode,
            tool: tool.into(),
            max_repairs,
        }
    }

    /// Returns the name of the tool whose arguments are the answer, if the model is asked through a tool.
    pub fn answering_tool(&self) -> Option<&str> {
        (self.mode == OutputMode::Tool).then_some(self.tool.as_str())
    }
}

/// An answer to check.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Draft<'a> {
    /// The reply that contains it.
    pub reply: &'a AssistantMessage,
    /// The call whose arguments it is. Without a call, it is the text of the reply.
    pub call: Option<&'a ToolCall>,
    /// Whether the reply was cut off at its token limit.
    pub is_cut: bool,
}

/// Whether an answer fits its type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It fits.
    Accepted,
    /// It does not fit, for these reasons.
    Rejected(Vec<SchemaViolation>),
}
