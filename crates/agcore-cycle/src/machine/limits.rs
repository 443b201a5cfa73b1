//! [`Limits`] of a turn that are pure numbers.

use serde::{Deserialize, Serialize};

/// Limits of every turn of a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// Rounds (a reply together with its tools' results) before the model must answer; 10.
    pub max_tool_turns: u32,
    /// What happens at that limit, and at that of a budget.
    pub at_round_limit: RoundLimit,
    /// The longest result of a tool that enters the history, in bytes; longer ones are cut on a character boundary with a
    /// note; 65 536.
    pub max_tool_result_bytes: usize,
}

/// What happens when the model asks for tools after the last round, or when a budget has too little left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoundLimit {
    /// The turn ends with an error; the history keeps all rounds.
    #[default]
    Fail,
    /// The model is asked once more, without tools, to answer with what it has.
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
    /// The default limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of rounds.
    pub fn with_max_tool_turns(mut self, rounds: u32) -> Self {
        self.max_tool_turns = rounds;
        self
    }

    /// Sets what happens at the last round.
    pub fn with_round_limit(mut self, at_limit: RoundLimit) -> Self {
        self.at_round_limit = at_limit;
        self
    }

    /// Sets the longest result of a tool, in bytes.
    pub fn with_max_tool_result_bytes(mut self, bytes: usize) -> Self {
        self.max_tool_result_bytes = bytes;
        self
    }
}
