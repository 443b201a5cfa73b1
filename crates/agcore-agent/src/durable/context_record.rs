//! [`ContextRecord`]: what happened to the contexts of a session, as a record in its stream.

use agcore_memory::{Entry, MemoryError, MemoryErrorKind, Record, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::AgentError;

/// The kind of these records.
pub(super) const KIND: &str = "context";

/// The version of the form that this code writes. It also reads all older ones.
const VERSION: u32 = 1;

/// A change of the contexts of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub(crate) enum ContextRecord {
    /// A context was created. The first one is the current one.
    Created { name: String },
    /// A context became the current one.
    Current { name: String },
    /// A context was destroyed.
    Destroyed { name: String },
}

impl ContextRecord {
    pub(super) fn to_record(&self, at: Timestamp) -> Result<Record, MemoryError> {
        let data = serde_json::to_value(self).map_err(|error| {
            let problem = "the record of the context cannot be written as JSON";
            MemoryError::with_source(MemoryErrorKind::Serialization, problem, error)
        })?;
        Ok(Record::new(KIND, VERSION, at, data))
    }

    /// Reads the records of contexts, and skips all others.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is damaged or too new.
    pub(crate) fn read_all(entries: Vec<Entry>) -> Result<Vec<Self>, AgentError> {
        let of_contexts = entries.into_iter().filter(|entry| entry.record.kind == KIND);
        let read = of_contexts.map(|Entry { seq, record, .. }| {
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
