//! [`Limits`] of a turn.

use serde::{Deserialize, Serialize};

/// The limits of every turn.
///
/// ```
/// use agcore_chat::{AssistantMessage, ToolCall};
/// use agcore_cycle::machine::{Begin, Limits, Machine, Outcome, Purpose, Reply, RoundLimit, Step};
/// # use agcore_chat::{Message, ToolOutcome};
///
/// // After one round of tools, the model must answer with what it has found.
/// let limits = Limits::new().with_max_tool_turns(1).with_round_limit(RoundLimit::WrapUp);
/// let mut machine = Machine::new(limits);
/// machine.absorb(Outcome::TurnStarted(Begin::new([Message::user("Find the word.")])))?;
/// let reply = AssistantMessage::default().with_call(ToolCall::function("call_1", "read", "{}"));
/// machine.absorb(Outcome::Reply(Reply::new(reply)))?;
/// machine.absorb(Outcome::Started(vec!["call_1".into()]))?;
/// machine.absorb(Outcome::Tool {
///     call: "call_1".into(),
///     outcome: ToolOutcome::done("a page"),
///     duration_us: 20,
///     input: None,
/// })?;
/// let Step::Call(plan) = machine.next() else { unreachable!() };
/// assert_eq!(plan.purpose, Purpose::WrapUp);
/// # Ok::<(), agcore_cycle::machine::MachineError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Limits {
    /// The number of tool rounds before the model must answer. A round is a reply together with the results of its calls.
    /// The default is 10.
    pub max_tool_turns: u32,
    /// The behavior at this limit, and at the limit of a budget.
    pub at_round_limit: RoundLimit,
    /// The longest tool result that enters the history, in bytes. Longer ones are truncated at a character boundary and end in a
    /// note. The default is 65,536.
    pub max_tool_result_bytes: usize,
}

/// The behavior when the model calls tools after the last round, or when a budget has too little left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RoundLimit {
    /// The turn ends with an error; the history keeps all rounds.
    #[default]
    Fail,
    /// The model is asked once more to answer with what it has found, and can call no tools.
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
    #[must_use]
    pub fn with_max_tool_turns(mut self, rounds: u32) -> Self {
        self.max_tool_turns = rounds;
        self
    }

    /// Sets what happens after the last round.
    #[must_use]
    pub fn with_round_limit(mut self, at_limit: RoundLimit) -> Self {
        self.at_round_limit = at_limit;
        self
    }

    /// Returns whether the model must wrap up after this many rounds.
    pub(in crate::machine) fn must_wrap_up(&self, rounds: u32) -> bool {
        rounds >= self.max_tool_turns && self.at_round_limit == RoundLimit::WrapUp
    }

    /// Sets the longest tool result, in bytes.
    #[must_use]
    pub fn with_max_tool_result_bytes(mut self, bytes: usize) -> Self {
        self.max_tool_result_bytes = bytes;
        self
    }
}
