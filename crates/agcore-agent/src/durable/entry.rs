//! [`EntryData`]: the JSON form of one record of a session.

use std::borrow::Cow;

use agcore_cycle::machine::{Machine, Outcome, Record as Outcomes};
use agcore_memory::{Entry, MemoryError, Record, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::AgentError;

/// The kind of the records of agents.
const KIND: &str = "agent";

/// The version of the form that this code writes. It also reads all older ones.
const VERSION: u32 = 1;

/// One record: what happened between two writes. Its parts take effect in the order of the members.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EntryData<'a> {
    /// The session object that wrote the record, so that it recognizes its own.
    writer: Cow<'a, str>,
    /// The whole state of the conversation, which replaces what the records before have led to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) state: Option<Cow<'a, Machine>>,
    /// The memory of the tools for the session, if it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tools: Option<Value>,
    /// The values that the steps of the turn share, if they have changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) run_state: Option<Map<String, Value>>,
    /// The outcomes that the conversation absorbed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) outcomes: Option<Outcomes<'a>>,
}

impl<'a> EntryData<'a> {
    /// Creates a record of these outcomes.
    pub(super) fn new(writer: &'a str, outcomes: &'a [Outcome]) -> Self {
        Self {
            writer: writer.into(),
            state: None,
            tools: None,
            run_state: None,
            outcomes: (!outcomes.is_empty()).then(|| Outcomes::new(outcomes)),
        }
    }

    /// Returns the record as a store keeps it.
    pub(super) fn into_record(self, at: Timestamp) -> Result<Record, MemoryError> {
        let data = serde_json::to_value(self).map_err(|error| {
            MemoryError::with_source(
                agcore_memory::MemoryErrorKind::Serialization,
                "the record cannot be written as JSON",
                error,
            )
        })?;
        Ok(Record::new(KIND, VERSION, at, data))
    }

    /// Reads a record.
    pub(super) fn read(entry: Entry) -> Result<EntryData<'static>, AgentError> {
        let Entry { seq, record, .. } = entry;
        if record.kind != KIND {
            let problem = format!(
                "its record {seq} is of the kind `{}`, which agents do not write",
                record.kind
            );
            return Err(AgentError::state(problem));
        }
        if !(1..=VERSION).contains(&record.version) {
            let problem = format!(
                "its record {seq} has version {}, but this program reads versions 1 to {VERSION}; use a newer version of the \
                 program",
                record.version
            );
            return Err(AgentError::state(problem));
        }
        serde_json::from_value(record.data)
            .map_err(|error| AgentError::state(format_args!("its record {seq} cannot be read: {error}")))
    }
}
