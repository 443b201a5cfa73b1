//! [`Observation`]: what an agent did in a case.

use agcore_chat::Money;
use serde_json::{Map, Value};

use crate::expect::Status;

/// The behavior of an agent in a case.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Observation {
    /// The end of the last turn.
    pub status: Status,
    /// The last answer.
    pub answer: String,
    /// The reason why the turn failed, or the question that it waits for.
    pub problem: Option<String>,
    /// The calls of tools in all turns, in order.
    pub calls: Vec<ObservedCall>,
    /// The calls of the model in all turns.
    pub steps: u64,
    /// The tokens of all turns, if all are known.
    pub tokens: Option<u64>,
    /// The costs of all turns, with an amount for each currency; empty if they are unknown.
    pub costs: Vec<Money>,
    /// The number of replies of the script that were not used.
    pub unused_replies: usize,
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ObservedCall {
    /// The tool.
    pub name: String,
    /// The arguments; empty if the model did not write a JSON object.
    pub arguments: Map<String, Value>,
}

impl Observation {
    /// Creates the observation of a turn that finished with an answer.
    pub fn new(answer: impl Into<String>) -> Self {
        Self {
            answer: answer.into(),
            ..Self::default()
        }
    }

    /// Sets the calls of tools.
    #[must_use]
    pub fn with_calls(mut self, calls: impl IntoIterator<Item = ObservedCall>) -> Self {
        self.calls = calls.into_iter().collect();
        self
    }
}

impl ObservedCall {
    /// Creates a call.
    pub fn new(name: impl Into<String>, arguments: Map<String, Value>) -> Self {
        Self {
            name: name.into(),
            arguments,
        }
    }
}
