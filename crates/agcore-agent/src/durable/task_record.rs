//! [`TaskRecord`]: what happened to a task, as a record in the stream of its session.

use agcore_chat::UsageTracker;
use serde::{Deserialize, Serialize};

use super::side_record::SideRecord;
use crate::plan::Plan;

/// A change of a task. Each has the tokens that were used for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum TaskRecord {
    /// The task begins.
    Started { goal: String },
    /// A plan was made, or another one after it failed.
    Planned { plan: Plan, usage: UsageTracker },
    /// A step of the newest plan was completed.
    Completed {
        step: usize,
        result: String,
        usage: UsageTracker,
    },
    /// A step of the newest plan failed.
    Failed {
        step: usize,
        reason: String,
        usage: UsageTracker,
    },
    /// The goal was reached.
    Answered { answer: String, usage: UsageTracker },
}

impl SideRecord for TaskRecord {
    const KIND: &'static str = "task";
    const VERSION: u32 = 1;
}
