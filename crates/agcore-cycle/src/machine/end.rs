//! [`End`]: how a turn ended.

use std::borrow::Cow;

use agcore_chat::{Fault, FaultKind, Text};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::outcome::Cause;
use crate::budget::BudgetLimit;

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum End {
    /// The model answered.
    Answered,
    /// A tool handed the conversation over.
    Diverted {
        /// The call that did.
        call: Text,
        /// What the layer above needs to know.
        data: Value,
    },
    /// It failed.
    Failed(Fault),
    /// It was stopped.
    Stopped(Cause),
    /// It reached a limit.
    Limit(LimitKind),
}

/// Which limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LimitKind {
    /// Rounds of tools.
    ToolTurns,
    /// A budget.
    Budget(BudgetLimit),
}

impl LimitKind {
    /// The limit's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolTurns => "max_tool_turns",
            Self::Budget(limit) => limit.as_str(),
        }
    }

    /// What happened and what to do.
    pub fn message(self) -> Cow<'static, str> {
        match self {
            Self::ToolTurns => {
                "the model still asks for tools after the last round that max_tool_turns allows; raise it, or let the \
                 model wrap up"
                    .into()
            }
            Self::Budget(limit) => format!(
                "the budget {limit} has too little left for what comes next; raise it, or let the model wrap up"
            )
            .into(),
        }
    }
}

impl End {
    /// The end as a fault, unless it is a good one.
    pub fn fault(&self) -> Option<Fault> {
        match self {
            Self::Answered | Self::Diverted { .. } => None,
            Self::Failed(fault) => Some(fault.clone()),
            Self::Stopped(cause) => Some(Fault::new(cause.kind, cause.message.as_str())),
            Self::Limit(limit) => Some(Fault::new(FaultKind::Limit, limit.message())),
        }
    }
}
