//! [`SessionDocument`]: a JSON value that the agent of a session shares with an application.

mod limits;
#[cfg(feature = "patch")]
mod patch;

use agcore_chat::{Timestamp, id};
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[cfg(feature = "patch")]
pub use self::patch::DocumentPatch;
use crate::error::{SessionError, SessionErrorKind};

/// A JSON value that the agent of a session and an application both read and change, such as the draft that a page shows. A session
/// has at most one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SessionDocument {
    /// The number of the version: 1 for the first value, and one more with each change.
    pub version: u64,
    /// The value.
    pub value: Value,
    /// The name that the last writer has given to its change, such as the id of a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<String>,
    /// The time of the last change, set by the store.
    pub updated_at: Timestamp,
}

/// A new value of the [document](SessionDocument) of a session, to be stored with a [`Commit`](super::Commit).
///
/// ```
/// use agcore_session::{DocumentChange, SessionErrorKind, Timestamp};
/// use serde_json::json;
///
/// let now = Timestamp::default();
/// let first = DocumentChange::new(json!({"title": "Tea"})).apply(None, now)?;
/// let second = DocumentChange::new(json!({"title": "Green tea"})).with_base(1).apply(Some(&first), now)?;
/// assert_eq!(second.version, 2);
///
/// // Another writer that has not seen version 2.
/// let late = DocumentChange::new(json!({})).with_base(1).apply(Some(&second), now).unwrap_err();
/// assert_eq!(late.kind(), SessionErrorKind::StaleDocument { found: 2 });
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DocumentChange {
    /// The new value.
    pub value: Value,
    /// The version that the writer has read, 0 if there was none. Without it, the value replaces any version.
    pub base: Option<u64>,
    /// A name for the change, by which its writer can recognize it.
    pub name: Option<String>,
}

impl DocumentChange {
    /// Creates a change that replaces any version.
    pub fn new(value: Value) -> Self {
        Self {
            value,
            base: None,
            name: None,
        }
    }

    /// Replaces this version only, 0 for the first value.
    #[must_use]
    pub fn with_base(mut self, version: u64) -> Self {
        self.base = Some(version);
        self
    }

    /// Names the change, such as by the id of a tool call, so that a writer that was interrupted can find out whether it took
    /// place.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Checks that every store can keep the document.
    ///
    /// # Errors
    /// [`InvalidInput`](SessionErrorKind::InvalidInput) if it has more than 64 KiB or 64 levels, or its name is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        if let Some(name) = &self.name {
            id::check_named("the name of the change", name)?;
        }
        limits::check(&self.value)
    }

    /// Returns whether the value has more bytes than a document may have.
    pub fn is_too_large(&self) -> bool {
        limits::is_too_large(&self.value)
    }

    /// Returns the document as it is stored.
    ///
    /// # Errors
    /// [`StaleDocument`](SessionErrorKind::StaleDocument) if the stored document has another version than the base.
    pub fn apply(self, known: Option<&SessionDocument>, now: Timestamp) -> Result<SessionDocument, SessionError> {
        let found = known.map_or(0, |known| known.version);
        if let Some(base) = self.base.filter(|base| *base != found) {
            return Err(SessionError::new(
                SessionErrorKind::StaleDocument { found },
                format!("the document has version {found}, not {base}: read it again and repeat the change"),
            ));
        }
        Ok(SessionDocument {
            version: found + 1,
            value: self.value,
            change: self.name,
            updated_at: known.map_or(now, |known| known.updated_at.max(now)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_documents_and_strange_names_are_refused() {
        let fits = DocumentChange::new(Value::from("x".repeat(65_534)));
        assert!(fits.check().is_ok());
        let large = DocumentChange::new(Value::from("x".repeat(65_535)));
        assert_eq!(large.check().unwrap_err().kind(), SessionErrorKind::InvalidInput);
        assert!(large.is_too_large() && !fits.is_too_large());
        let named = DocumentChange::new(Value::Null).with_name("");
        assert_eq!(named.check().unwrap_err().kind(), SessionErrorKind::InvalidInput);
    }
}
