//! [`FlowEvent`]: what observers learn while a flow runs.

use std::time::Duration;

use agcore_chat::{Fault, StreamEvent};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    interrupt::Interrupt,
    record::{Record, micros},
};

/// An event of a run. Events are sent to observers and never read back to compute state.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum FlowEvent {
    /// The run begins, or continues.
    RunStarted {
        /// The name of the flow.
        flow: String,
        /// Whether it continues from a checkpoint.
        is_resumed: bool,
    },
    /// A node starts.
    NodeStarted {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// How often the node was visited, with this time.
        visit: u32,
        /// The attempt, from 1.
        attempt: u32,
    },
    /// A node failed and is tried again.
    NodeRetried {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// The attempt that failed, from 1.
        attempt: u32,
        /// The wait before the next one; whole microseconds in JSON.
        #[serde(rename = "wait_us", with = "micros")]
        wait: Duration,
        /// The error.
        fault: Fault,
    },
    /// A node has finished, and its checkpoint is saved.
    NodeFinished(Record),
    /// A node failed for good, and the run with it.
    NodeFailed {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// The error.
        fault: Fault,
    },
    /// A node asks a person.
    Interrupted(Interrupt),
    /// Data that a node sent to observers.
    Custom {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// The data.
        data: Value,
    },
    /// An event of an agent that works in a node.
    Agent {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// The event.
        event: Box<StreamEvent>,
    },
    /// An event of a tool call that a node makes itself, without an agent. It comes again if the node runs again, with the same id
    /// of the call.
    ToolCall {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// The event.
        event: Box<StreamEvent>,
    },
    /// An event of a flow that runs as a node.
    Inside {
        /// The node.
        node: String,
        /// The branch of the run.
        branch: String,
        /// The event.
        event: Box<FlowEvent>,
    },
    /// The run has ended.
    RunFinished,
    /// The run waits for people.
    RunSuspended {
        /// The open questions.
        interrupts: Vec<Interrupt>,
    },
    /// The run stopped with an error.
    RunFailed {
        /// The error.
        fault: Fault,
    },
}
