//! [`End`]: how a turn ended.

use std::borrow::Cow;

use agcore_chat::{Fault, FaultKind, Text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outcome::Cause;
use crate::budget::BudgetLimit;

/// The end of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// The model answered.
    Answered,
    /// A tool handed the conversation over.
    Diverted {
        /// The id of the call that did so.
        call: Text,
        /// Data for the layer above.
        data: Value,
    },
    /// The turn failed.
    Failed(Fault),
    /// The turn was stopped.
    Stopped(Cause),
    /// The turn reached a limit.
    Limit(LimitKind),
}

/// The kind of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// The number of tool rounds.
    ToolTurns,
    /// A budget.
    Budget(BudgetLimit),
}

impl LimitKind {
    /// Returns the name of the limit.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolTurns => "max_tool_turns",
            Self::Budget(limit) => limit.as_str(),
        }
    }

    /// Returns what happened and what to do.
    pub fn message(self) -> Cow<'static, str> {
        match self {
            Self::ToolTurns => {
                "the model still calls tools after the last round that max_tool_turns allows; raise it, or let the model \
                 answer without tools at the limit (`RoundLimit::WrapUp`)"
                    .into()
            }
            Self::Budget(limit) => format!(
                "the budget {limit} has too little left for the next step; raise it, or let the model wrap up"
            )
            .into(),
        }
    }
}

impl End {
    /// Returns the end as a fault, unless the turn succeeded.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Answered | Self::Diverted { .. } => None,
            Self::Failed(fault) => Some(fault.clone()),
            Self::Stopped(cause) => Some(Fault::new(cause.kind, cause.message.as_str())),
            Self::Limit(limit) => Some(Fault::new(FaultKind::Limit, limit.message())),
        }
    }
}
