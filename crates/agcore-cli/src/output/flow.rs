//! The lines of flows: the work of their nodes, and the end of a run.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{failure::ErrorInfo, tokens::UsageTotals};

/// The start of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct FlowStart {
    /// The name of the flow.
    pub(crate) flow: String,
    /// Whether an earlier run continues after its last checkpoint.
    pub(crate) resumed: bool,
}

/// The start of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NodeStart {
    /// The node.
    pub(crate) node: String,
    /// The branch: `0` is the run itself; the branches of a fork have the name of their first node appended, like `0.search`.
    pub(crate) branch: String,
    /// How often the node was visited, with this time.
    pub(crate) visit: u32,
    /// The attempt, from 1.
    pub(crate) attempt: u32,
}

/// A node that failed and is tried again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct NodeRetry {
    /// The node.
    pub(crate) node: String,
    /// The branch.
    pub(crate) branch: String,
    /// The attempt that failed, from 1.
    pub(crate) attempt: u32,
    /// The time until the next attempt.
    pub(crate) delay_ms: u64,
    /// The reason that it failed.
    pub(crate) error: ErrorInfo,
}

/// The end of a node, whose state is saved unless it failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct NodeEnd {
    /// The node.
    pub(crate) node: String,
    /// The branch.
    pub(crate) branch: String,
    /// The number of nodes that have finished in the run, with this one; null if it failed.
    pub(crate) id: Option<u64>,
    /// How often the node was visited, with this time; null if it failed.
    pub(crate) visit: Option<u32>,
    /// The number of attempts that it took; null if it failed.
    pub(crate) attempts: Option<u32>,
    /// The nodes that come next; `end` is the end of the flow. Empty if the node failed.
    pub(crate) next: Vec<String>,
    /// The data of the node about its work; null if there is none.
    pub(crate) data: Option<Value>,
    /// How long it took; null if it failed.
    pub(crate) duration_ms: Option<u64>,
    /// The tokens that it used; null if it made no model call.
    pub(crate) usage: Option<UsageTotals>,
    /// The reason that it failed; null if it did not.
    pub(crate) error: Option<ErrorInfo>,
}

/// Data that a node sends while it works.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct NodeData {
    /// The node.
    pub(crate) node: String,
    /// The branch.
    pub(crate) branch: String,
    /// The data.
    pub(crate) data: Value,
}

/// A question of a node to a person. The run continues with `--resume` and `--answer` when it is answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct FlowQuestion {
    /// The id, for `--answer`.
    pub(crate) id: String,
    /// The node that asks.
    pub(crate) node: String,
    /// The branch in which it asks.
    pub(crate) branch: String,
    /// The question: a text, or an object with what a person has to know.
    pub(crate) prompt: Value,
}

/// The end of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub(crate) struct FlowEnd {
    /// The state, in the form of the kind of the flow; null if the run waits for answers.
    pub(crate) state: Value,
    /// The open questions.
    pub(crate) questions: Vec<FlowQuestion>,
}
