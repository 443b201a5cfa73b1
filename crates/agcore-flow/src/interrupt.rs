//! [`Interrupt`]: a question of a node to a person.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A question of a node to a person. The run is suspended until it is [answered](crate::FlowRun::with_answer).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Interrupt {
    /// The id, under which it is answered. It is the same after a restart.
    pub id: String,
    /// The node that asks.
    pub node: String,
    /// The branch of the run in which it asks.
    pub branch: String,
    /// The name of the question within the node.
    pub key: String,
    /// The question, in a form that the application displays.
    pub prompt: Value,
}

impl Interrupt {
    pub(crate) fn new(branch: &str, node: &str, visit: u32, key: &str, prompt: Value) -> Self {
        Self {
            id: format!("{branch}:{node}#{visit}:{key}"),
            node: node.to_owned(),
            branch: branch.to_owned(),
            key: key.to_owned(),
            prompt,
        }
    }
}
