//! [`Run`]: the start and the end of a run.

use agcore_chat::{Money, Text, UsageSummary};
use serde_json::Value;

/// The start or the end of a run.
///
/// A run that waits for a person ends with [`Input::Interrupt`](crate::Input::Interrupt).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Run {
    /// The run starts.
    Started {
        /// The run that this one continues.
        parent: Option<Text>,
    },
    /// The run succeeded.
    Finished(RunEnd),
    /// The run was cancelled. Open calls get a result that says so.
    Cancelled(RunEnd),
    /// The run failed. Open calls get a result that says so.
    Failed {
        /// A description for people. Must not contain keys or request bodies.
        message: String,
        /// A stable name of the error.
        code: Option<Text>,
        /// Further data.
        end: RunEnd,
    },
}

impl Run {
    /// Creates the start of a run.
    pub fn started() -> Self {
        Self::Started { parent: None }
    }

    /// Creates the end of a run that succeeded.
    pub fn finished() -> Self {
        Self::Finished(RunEnd::new())
    }

    /// Creates the end of a run that was cancelled.
    pub fn cancelled() -> Self {
        Self::Cancelled(RunEnd::new())
    }

    /// Creates the end of a run that failed.
    pub fn failed(message: impl Into<String>, code: impl Into<Text>) -> Self {
        Self::Failed {
            message: message.into(),
            code: Some(code.into()),
            end: RunEnd::new(),
        }
    }
}

/// Data that is known at the end of a run.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
#[must_use]
pub struct RunEnd {
    /// The result of the run, if it has one beside its messages.
    pub result: Option<Value>,
    /// The ids of calls of tools of the front end that the application still has to answer. Used if the run succeeded.
    pub pending_tool_calls: Vec<Text>,
    /// The bill of the run. Without one, the usage is the sum of the model calls that the encoder saw.
    pub usage: Option<UsageSummary>,
    /// The cost of the run, which is sent only if the [settings](crate::UsageFields) allow it.
    pub cost: Option<Money>,
}

impl RunEnd {
    /// Creates an end without a result.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the result.
    pub fn with_result(mut self, result: Value) -> Self {
        self.result = Some(result);
        self
    }

    /// Sets the calls that the application still has to answer.
    pub fn with_pending_tool_calls(mut self, calls: impl IntoIterator<Item = Text>) -> Self {
        self.pending_tool_calls = calls.into_iter().collect();
        self
    }

    /// Sets the bill.
    pub fn with_usage(mut self, usage: UsageSummary) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the cost.
    pub fn with_cost(mut self, cost: Money) -> Self {
        self.cost = Some(cost);
        self
    }
}
