//! The lines of flows: the work of their nodes, and the end of a run.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{failure::ErrorInfo, tokens::UsageTotals};

/// The start of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct FlowStart {
    /// The name of the flow.
    pub flow: String,
    /// Whether an earlier run continues after its last checkpoint.
    pub resumed: bool,
}

/// The start of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct NodeStart {
    /// The node.
    pub node: String,
    /// The branch: `0` is the run itself; the branches of a fork have the name of their first node appended, like `0.search`.
    pub branch: String,
    /// How often the node was visited, with this time.
    pub visit: u32,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// A node that failed and is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct NodeRetry {
    /// The node.
    pub node: String,
    /// The branch.
    pub branch: String,
    /// The attempt that failed, from 1.
    pub attempt: u32,
    /// The time until the next attempt.
    pub delay_ms: u64,
    /// The reason that it failed.
    pub error: ErrorInfo,
}

/// The end of a node, whose state is saved unless it failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct NodeEnd {
    /// The node.
    pub node: String,
    /// The branch.
    pub branch: String,
    /// The number of nodes that have finished in the run, with this one; null if it failed.
    pub id: Option<u64>,
    /// How often the node was visited, with this time; null if it failed.
    pub visit: Option<u32>,
    /// The number of attempts that it took; null if it failed.
    pub attempts: Option<u32>,
    /// The nodes that come next; `end` is the end of the flow. Empty if the node failed.
    pub next: Vec<String>,
    /// The data of the node about its work; null if there is none.
    pub data: Option<Value>,
    /// How long it took; null if it failed.
    pub duration_ms: Option<u64>,
    /// The tokens that it used; null if it made no model call.
    pub usage: Option<UsageTotals>,
    /// The reason that it failed; null if it did not.
    pub error: Option<ErrorInfo>,
}

/// Data that a node sends while it works.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct NodeData {
    /// The node.
    pub node: String,
    /// The branch.
    pub branch: String,
    /// The data.
    pub data: Value,
}

/// A question of a node to a person. The run continues with `--resume` and `--answer` when it is answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct FlowQuestion {
    /// The id, for `--answer`.
    pub id: String,
    /// The node that asks.
    pub node: String,
    /// The branch in which it asks.
    pub branch: String,
    /// The question: a text, or an object with what a person has to know.
    pub prompt: Value,
}

/// The end of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[non_exhaustive]
pub struct FlowEnd {
    /// The state, in the form of the kind of the flow; null if the run waits for answers.
    pub state: Value,
    /// The open questions.
    pub questions: Vec<FlowQuestion>,
}
