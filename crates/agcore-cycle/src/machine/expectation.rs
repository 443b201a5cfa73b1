//! [`Expectation`] of a typed turn, the [`Draft`] that is to be checked, and the [`Verdict`] on it.

use agcore_chat::{AssistantMessage, SchemaViolation, ToolCall};
use serde::{Deserialize, Serialize};

use crate::typed::OutputMode;

/// What a typed turn asks of its answer. The schema is not in it: whoever checks has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Expectation {
    /// How the model is asked.
    pub mode: OutputMode,
    /// The name of the tool whose arguments are the answer, in that mode.
    pub tool: String,
    /// How often the model may mend an answer that does not fit.
    pub max_repairs: u32,
}

impl Expectation {
    /// What a turn asks of its answer.
    pub fn new(mode: OutputMode, tool: impl Into<String>, max_repairs: u32) -> Self {
        Self {
            mode,
            tool: tool.into(),
            max_repairs,
        }
    }

    /// The tool whose arguments are the answer, when the model is asked by one.
    pub fn answering_tool(&self) -> Option<&str> {
        (self.mode == OutputMode::Tool).then_some(self.tool.as_str())
    }
}

/// An answer that is to be checked.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Draft<'a> {
    /// The reply that it stands in.
    pub reply: &'a AssistantMessage,
    /// The call whose arguments it is; without one it is the reply's text.
    pub call: Option<&'a ToolCall>,
    /// Whether the reply was cut at its token limit.
    pub is_cut: bool,
}

/// Whether an answer fits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It does.
    Accepted,
    /// It does not, for these reasons.
    Rejected(Vec<SchemaViolation>),
}
