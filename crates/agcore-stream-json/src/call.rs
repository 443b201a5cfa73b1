//! The contents of lines about tool calls.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool call that the model requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ToolUse {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them: an object, or a text that is not JSON.
    pub input: Value,
    /// The call within which this one was made; null for calls of the main agent.
    pub parent_id: Option<String>,
}

/// The start of a call. A call that continues after a question starts again. One that is refused never starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ToolStart {
    /// The call's id.
    pub id: String,
}

/// The result of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// The end of the call.
    pub status: ToolStatus,
    /// The text that the model receives; null if there is none.
    pub output: Option<String>,
    /// How long the call took; null if unknown.
    pub duration_ms: Option<u64>,
}

/// The end of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// The tool returned a result.
    Ok,
    /// The tool failed, does not exist, or got invalid arguments.
    Error,
    /// The call was not allowed and did not run.
    Denied,
    /// The call was cancelled.
    Interrupted,
}

/// Progress of a running call. It replaces that of the event before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ToolOutputDelta {
    /// The call's id.
    pub id: String,
    /// The text.
    pub text: String,
}

/// A question whether a call may run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments with which the call runs if it is approved.
    pub input: Value,
    /// The reason for the question.
    pub reason: String,
}

/// The answer to such a question.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct ApprovalResolved {
    /// The call's id.
    pub id: String,
    /// The answer.
    pub decision: Decision,
    /// How long an approval is valid: `once`, `session` or `always`; null for a denial.
    pub scope: Option<String>,
    /// Arguments that replace those of the model; null if they were not edited.
    pub input: Option<Value>,
    /// The reason for a denial, as the model receives it.
    pub message: Option<String>,
}

/// Whether a call may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The call may run.
    Allow,
    /// The call must not run.
    Deny,
}
