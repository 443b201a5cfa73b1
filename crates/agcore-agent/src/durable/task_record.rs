//! [`TaskRecord`]: what happened to a task, as a record in the stream of its session.

use agcore_chat::UsageTracker;
use agcore_memory::{Entry, MemoryError, MemoryErrorKind, Record, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{error::AgentError, plan::Plan};

/// The kind of these records.
pub(super) const KIND: &str = "task";

/// The version of the form that this code writes. It also reads all older ones.
const VERSION: u32 = 1;

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

impl TaskRecord {
    pub(super) fn to_record(&self, at: Timestamp) -> Result<Record, MemoryError> {
        let data = serde_json::to_value(self).map_err(|error| {
            let problem = "the record of the task cannot be written as JSON";
            MemoryError::with_source(MemoryErrorKind::Serialization, problem, error)
        })?;
        Ok(Record::new(KIND, VERSION, at, data))
    }

    /// Reads the records of a task, and skips those of its agents.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is damaged or too new.
    pub(super) fn read_all(entries: Vec<Entry>) -> Result<Vec<Self>, AgentError> {
        let of_task = entries.into_iter().filter(|entry| entry.record.kind == KIND);
        let read = of_task.map(|Entry { seq, record, .. }| {
            if record.version > VERSION {
                let problem = format!(
                    "its record {seq} has version {}, but this program reads versions 1 to {VERSION}; use a newer version of \
                     the program",
                    record.version
                );
                return Err(AgentError::state(problem));
            }
            serde_json::from_value(record.data)
                .map_err(|error| AgentError::state(format_args!("its record {seq} cannot be read: {error}")))
        });
        read.collect()
    }
}
