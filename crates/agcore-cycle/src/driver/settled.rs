//! [`Settled`]: the end of a tool call.

use std::time::Duration;

use agcore_chat::{Text, ToolOutcome};

/// The end of a call: its outcome, how long it took, and the input with which it ran.
pub(super) struct Settled {
    pub(super) call: Text,
    pub(super) outcome: ToolOutcome,
    pub(super) duration: Duration,
    /// The input with which it ran, if that is not the one of the model.
    pub(super) input: Option<Text>,
}

impl Settled {
    /// Creates the end of a call that did not run.
    pub(super) fn at_once(call: Text, outcome: ToolOutcome) -> Self {
        Self {
            call,
            outcome,
            duration: Duration::ZERO,
            input: None,
        }
    }
}
