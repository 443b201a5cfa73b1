//! Events of a session.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{error::MemoryError, id, timestamp::Timestamp};

/// An event to be stored with a [`Commit`](super::Commit).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewEvent {
    /// The id of the run to which the event belongs.
    pub run: String,
    /// The kind of the event, by which a reader knows the form of its data.
    pub kind: String,
    /// The data.
    pub data: Value,
}

/// A stored event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredEvent {
    /// The number of the event within the session: 1, 2, 3 … without gaps, over all runs.
    pub seq: u64,
    /// The id of the run to which the event belongs.
    pub run: String,
    /// The kind of the event.
    pub kind: String,
    /// The data.
    pub data: Value,
    /// The time at which it was stored, set by the store.
    pub created_at: Timestamp,
}

impl NewEvent {
    /// Creates an event of a run.
    pub fn new(run: impl Into<String>, kind: impl Into<String>, data: Value) -> Self {
        Self {
            run: run.into(),
            kind: kind.into(),
            data,
        }
    }

    /// Checks that every store can keep the event.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the run or the kind is not acceptable.
    pub fn check(&self) -> Result<(), MemoryError> {
        id::check_named("the id of the run", &self.run)?;
        id::check_named("the kind of the event", &self.kind)
    }

    /// Returns the event as it is stored under a number.
    pub fn store(self, seq: u64, now: Timestamp) -> StoredEvent {
        StoredEvent {
            seq,
            run: self.run,
            kind: self.kind,
            data: self.data,
            created_at: now,
        }
    }
}
