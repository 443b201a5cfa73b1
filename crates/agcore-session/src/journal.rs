//! [`Journal`]: the contract of append-only streams of records.

#[cfg(feature = "in-memory")]
mod streams;
#[cfg(feature = "in-memory")]
mod in_memory;

#[cfg(feature = "in-memory")]
pub use in_memory::InMemoryJournal;
#[cfg(feature = "in-memory")]
pub(crate) use streams::Streams;

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use agcore_chat::{Timestamp, id};

use crate::error::SessionError;

/// A record of a stream. The journal does not know what the data means.
///
/// ```
/// use agcore_session::{Record, Timestamp};
/// use serde_json::json;
///
/// let record = Record::new("note", 1, Timestamp::from_millis(0), json!({"text": "milk"}));
/// let line = r#"{"kind":"note","version":1,"at":"1970-01-01T00:00:00.000Z","data":{"text":"milk"}}"#;
/// assert_eq!(serde_json::to_string(&record)?, line);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Record {
    /// The kind of the data, by which the reader knows its form.
    pub kind: String,
    /// The version of that form.
    pub version: u32,
    /// The time at which the record was made.
    pub at: Timestamp,
    /// The data.
    pub data: Value,
}

/// A record in its place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Entry {
    /// The sequence number: 1 for the first record of a stream, 2 for the second.
    pub seq: u64,
    /// The record.
    pub record: Record,
}

impl Record {
    /// Creates a record.
    pub fn new(kind: impl Into<String>, version: u32, at: Timestamp, data: Value) -> Self {
        Self {
            kind: kind.into(),
            version,
            at,
            data,
        }
    }

    /// Checks that every journal can keep the record.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the kind is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        Ok(id::check_named("the kind of the record", &self.kind)?)
    }
}

impl Entry {
    /// Creates an entry.
    pub fn new(seq: u64, record: Record) -> Self {
        Self { seq, record }
    }
}

/// Append-only streams of [`Record`]s.
///
/// A writer passes the end of the stream that it knows. If another writer was faster, nothing is appended and the writer gets
/// an error, so that no update is lost. The names of streams are ids: make them with [`id::join`], beginning with the tenant.
///
/// Every implementation must pass the suite `agcore_testkit::stores::journal`. Dropping the future of `append` leaves
/// open whether the records were appended, but all of them were or none.
///
/// ```
/// use agcore_session::{InMemoryJournal, Journal, Record, SessionErrorKind, Timestamp};
/// use serde_json::json;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let journal = InMemoryJournal::new();
/// let record = |text: &str| Record::new("note", 1, Timestamp::default(), json!(text));
/// assert_eq!(journal.append("notes", 0, vec![record("a"), record("b")]).await?, 2);
///
/// let late = journal.append("notes", 1, vec![record("c")]).await.unwrap_err();
/// assert_eq!(late.kind(), SessionErrorKind::Conflict { expected: 1, found: 2 });
///
/// let entries = journal.read("notes", 2).await?;
/// assert_eq!((entries[0].seq, &entries[0].record.data), (2, &json!("b")));
/// # Ok::<(), agcore_session::SessionError>(())
/// # }).unwrap();
/// ```
#[async_trait]
pub trait Journal: Send + Sync + Debug {
    /// Appends records to a stream, all or none, if it ends at `expected`: the sequence number of the last record that was
    /// ever appended, 0 for a stream that does not exist. Returns the sequence number of the last record.
    ///
    /// Without records, nothing changes, but the end of the stream is still compared.
    ///
    /// # Errors
    /// [`Conflict`](crate::SessionErrorKind::Conflict) if the stream ends elsewhere, and other errors when the name or a
    /// record is not acceptable or the storage fails.
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError>;

    /// Returns the records from a sequence number on, in order. Trimmed records are missing. A stream that does not exist
    /// has none.
    ///
    /// # Errors
    /// When the storage fails or a record cannot be read.
    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError>;

    /// Removes the records before a sequence number. The others keep their numbers, and the stream keeps its end, even if
    /// no record is left.
    ///
    /// # Errors
    /// When the storage fails.
    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError>;

    /// Deletes a stream. Returns whether it existed. Afterwards, a stream of that name starts at 1 again.
    ///
    /// # Errors
    /// When the storage fails.
    async fn delete(&self, stream: &str) -> Result<bool, SessionError>;
}

#[async_trait]
impl<J: Journal + ?Sized> Journal for Arc<J> {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        (**self).append(stream, expected, records).await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        (**self).read(stream, from).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        (**self).trim(stream, before).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        (**self).delete(stream).await
    }
}
