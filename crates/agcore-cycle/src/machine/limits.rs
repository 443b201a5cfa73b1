//! [`Limits`] of a turn.

use serde::{Deserialize, Serialize};

/// The limits of every turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// The number of tool rounds before the model must answer. A round is a reply together with the results of its calls.
    /// The default is 10.
    pub max_tool_turns: u32,
    /// What happens at this limit, and at the limit of a budget.
    pub at_round_limit: RoundLimit,
    /// The longest tool result that enters the history, in bytes. Longer ones are truncated at a character boundary and end in a
    /// note. The default is 65,536.
    pub max_tool_result_bytes: usize,
}

/// What happens when the model calls tools after the last round, or when a budget has too little left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoundLimit {
    /// The turn ends with an error; the history keeps all rounds.
    #[default]
    Fail,
    /// The model is asked once more, without tools, to answer with what it has found.
    WrapUp,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_tool_turns: 10,
            at_round_limit: RoundLimit::Fail,
            max_tool_result_bytes: 65_536,
        }
    }
}

impl Limits {
    /// Creates the default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of tool rounds.
    pub fn with_max_tool_turns(mut self, rounds: u32) -> Self {
        self.max_tool_turns = rounds;
        self
    }

    /// Sets what happens after the last round.
    pub fn with_round_limit(mut self, at_limit: RoundLimit) -> Self {
        self.at_round_limit = at_limit;
        self
    }

    /// Sets the longest tool result, in bytes.
    pub fn with_max_tool_result_bytes(mut self, bytes: usize) -> Self {
        self.max_tool_result_bytes = bytes;
        self
    }
}
