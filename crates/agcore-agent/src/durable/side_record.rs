//! [`SideRecord`]: records beside those of the turns; and how records of all kinds are written and read.

use agcore_session::{Entry, Record, SessionError, SessionErrorKind, Timestamp};
use serde::{Serialize, de::DeserializeOwned};

use crate::error::AgentError;

/// A change of a session outside of its turns, as a record in its stream.
pub(crate) trait SideRecord: Serialize + DeserializeOwned {
    /// The kind of these records.
    const KIND: &'static str;

    /// The version of the form that this code writes. It also reads all older ones.
    const VERSION: u32;

    /// Creates the record of this change.
    fn to_record(&self, at: Timestamp) -> Result<Record, SessionError> {
        write(Self::KIND, Self::VERSION, self, at)
    }

    /// Reads the records of this kind, and skips all others.
    ///
    /// # Errors
    /// [`InvalidState`](crate::AgentErrorKind::InvalidState) if a record is damaged or too new.
    fn read_all(entries: Vec<Entry>) -> Result<Vec<Self>, AgentError> {
        let of_kind = entries.into_iter().filter(|entry| entry.record.kind == Self::KIND);
        of_kind.map(|entry| read(entry, Self::VERSION)).collect()
    }
}

/// Creates a record of this kind and version.
pub(super) fn write(kind: &str, version: u32, data: &impl Serialize, at: Timestamp) -> Result<Record, SessionError> {
    let data = serde_json::to_value(data).map_err(|error| {
        let problem = format!("the record of the kind `{kind}` cannot be written as JSON");
        SessionError::with_source(SessionErrorKind::Serialization, problem, error)
    })?;
    Ok(Record::new(kind, version, at, data))
}

/// Reads the data of a record, which has at most this version.
pub(super) fn read<T: DeserializeOwned>(entry: Entry, newest: u32) -> Result<T, AgentError> {
    let Entry { seq, record, .. } = entry;
    if !(1..=newest).contains(&record.version) {
        let problem = format!(
            "its record {seq} has version {}, but this program reads versions 1 to {newest}; use a newer version of the program",
            record.version
        );
        return Err(AgentError::state(problem));
    }
    serde_json::from_value(record.data)
        .map_err(|error| AgentError::state(format_args!("its record {seq} cannot be read: {error}")))
}
