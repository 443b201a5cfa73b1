//! [`RunResult`]: the contents of the last line.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    failure::ErrorInfo,
    flow::FlowEnd,
    tokens::{Cost, Tokens, UsageTotals},
};

/// The result of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct RunResult {
    /// The end of the run.
    pub status: Status,
    /// The exit code of the process.
    pub exit_code: u8,
    /// The answer, or the part of it that arrived; null if there is none.
    pub text: Option<String>,
    /// The answer as JSON that matches the schema of `--schema`. Missing without `--schema`, or if there is no such answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The reason that the model stopped, such as `stop`, `length` or `content_filter`; null if unknown.
    pub stop_reason: Option<String>,
    /// The error; null if there is none.
    pub error: Option<ErrorInfo>,
    /// The tokens.
    pub usage: RunUsage,
    /// The cost of the turn.
    pub cost: Cost,
    /// The calls that were not allowed.
    pub denials: Vec<Denial>,
    /// The end of a flow. Missing if the run is not that of a flow, or if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowEnd>,
    /// The time from the start of the program.
    pub duration_ms: u64,
    /// The number of model calls of the turn, including failed ones that returned a part of an answer.
    pub num_model_calls: u64,
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The model answered.
    Ok,
    /// The run failed.
    Error,
    /// A call was denied because no one could be asked.
    Denied,
    /// The limit of tool rounds was reached.
    MaxTurns,
    /// A budget was reached.
    MaxBudget,
    /// The turn waits for approvals, or the flow for answers, and continues with `--resume` when they are given.
    Suspended,
    /// The run was interrupted or terminated.
    Interrupted,
    /// The answer was cut off at the token limit, blocked by a content filter, or has no text.
    Incomplete,
}

/// The tokens of a run. They are null if no call reported them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct RunUsage {
    /// The last model call.
    pub last_call: Option<Tokens>,
    /// All model calls of the turn.
    pub turn: Option<UsageTotals>,
    /// All model calls of the session.
    pub session: Option<UsageTotals>,
    /// The model calls of the turn that returned a whole reply, by model.
    pub by_model: BTreeMap<String, UsageTotals>,
}

/// A call that was not allowed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct Denial {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as the model wrote them.
    pub input: Value,
    /// The reason.
    pub reason: String,
}
