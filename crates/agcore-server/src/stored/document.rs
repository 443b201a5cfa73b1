//! [`Document`]: a stream whose last record is the document.

use std::sync::Arc;

use agcore_chat::Clock;
use agcore_session::{Journal, Record, SessionError, SessionErrorKind, Timestamp};
use serde_json::Value;

/// A stream whose last record is the document. The number of the record is the version of the document.
pub(super) struct Document<'d> {
    pub(super) journal: &'d Arc<dyn Journal>,
    pub(super) clock: &'d Arc<dyn Clock>,
    pub(super) stream: String,
}

impl Document<'_> {
    /// Returns the version and the last record.
    pub(super) async fn read(&self) -> Result<Option<(u64, Record)>, SessionError> {
        let mut entries = self.journal.read(&self.stream, 1).await?;
        Ok(entries.pop().map(|entry| (entry.seq, entry.record)))
    }

    /// Replaces the version, 0 if there is no document. Returns the new one.
    ///
    /// # Errors
    /// `Conflict` if the document has another version.
    pub(super) async fn write(&self, version: u64, kind: &str, data: Value) -> Result<u64, SessionError> {
        let record = Record::new(kind, 1, Timestamp::from(self.clock.now()), data);
        let version = self.journal.append(&self.stream, version, vec![record]).await?;
        // What is left here is removed with the next version.
        if let Err(error) = self.journal.trim(&self.stream, version).await {
            tracing::warn!(?error, "an older version of a document was not removed");
        }
        Ok(version)
    }

    /// Returns the error of a document that cannot be read.
    pub(super) fn damaged(&self, error: serde_json::Error) -> SessionError {
        let message = format!(
            "the document `{}` is damaged, or was written by a newer version",
            self.stream
        );
        SessionError::with_source(SessionErrorKind::Serialization, message, error)
    }
}
