//! [`CheckpointStore`]: the contract of stores of checkpoints.

use std::{fmt::Debug, sync::Arc};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use agcore_chat::{Timestamp, id};

use crate::{
    error::{SessionError, SessionErrorKind},
    lease::Fence,
};

/// The run to which checkpoints belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RunKey<'a> {
    /// The tenant.
    pub tenant: &'a str,
    /// The id of the session.
    pub session: &'a str,
    /// The id of the run.
    pub run: &'a str,
    /// The lease under which checkpoints are written: none is, unless it still holds. Reading does not check it.
    pub fence: Option<&'a Fence>,
}

/// A checkpoint to be saved: the state of a run after one of its steps.
///
/// ```
/// use agcore_session::NewCheckpoint;
/// use serde_json::json;
///
/// let first = NewCheckpoint::snapshot("router", json!({"count": 1}));
/// let second = NewCheckpoint::patch("worker", json!({"count": 2}));
/// # first.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewCheckpoint {
    /// The name of the step.
    pub step: String,
    /// Whether the data is the whole state, or a change of the checkpoint before it.
    pub is_snapshot: bool,
    /// The data.
    pub data: Value,
}

/// A saved checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The number within the run: 1, 2, 3 …
    pub seq: u64,
    /// The name of the step.
    pub step: String,
    /// Whether the data is the whole state, or a change of the checkpoint before it.
    pub is_snapshot: bool,
    /// The data.
    pub data: Value,
    /// The time at which it was saved, set by the store.
    pub created_at: Timestamp,
}

impl<'a> RunKey<'a> {
    /// Creates the key of a run.
    pub fn new(tenant: &'a str, session: &'a str, run: &'a str) -> Self {
        Self {
            tenant,
            session,
            run,
            fence: None,
        }
    }

    /// Writes checkpoints only if a lease still holds.
    #[must_use]
    pub fn with_fence(mut self, fence: &'a Fence) -> Self {
        self.fence = Some(fence);
        self
    }

    /// Returns the number of a new checkpoint of the run, whose last one has the number `last`, 0 if there is none. For
    /// implementations of [`CheckpointStore::save_checkpoint`].
    ///
    /// # Errors
    /// - [`Conflict`](crate::SessionErrorKind::Conflict) if the last checkpoint has another number than the writer expects.
    /// - [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the first checkpoint is not a snapshot.
    pub fn next(&self, last: u64, expected: u64, checkpoint: &NewCheckpoint) -> Result<u64, SessionError> {
        if last != expected {
            return Err(SessionError::new(
                SessionErrorKind::Conflict { expected, found: last },
                format!(
                    "the last checkpoint of the run `{}` is {last}, not {expected}: read it again and retry",
                    self.run
                ),
            ));
        }
        if last == 0 && !checkpoint.is_snapshot {
            return Err(SessionError::invalid(format!(
                "the first checkpoint of the run `{}` is a change, but there is no state that it could change",
                self.run
            )));
        }
        Ok(last + 1)
    }

    /// Returns the error of a run that does not exist.
    #[cold]
    pub fn not_found(&self) -> SessionError {
        SessionError::not_found(format!("the session `{}` has no run `{}`", self.session, self.run))
    }
}

impl NewCheckpoint {
    /// Creates a checkpoint with the whole state.
    pub fn snapshot(step: impl Into<String>, data: Value) -> Self {
        Self {
            step: step.into(),
            is_snapshot: true,
            data,
        }
    }

    /// Creates a checkpoint with a change of the one before it.
    pub fn patch(step: impl Into<String>, data: Value) -> Self {
        Self {
            step: step.into(),
            is_snapshot: false,
            data,
        }
    }

    /// Checks that every store can keep the checkpoint.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the name of the step is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        Ok(id::check_named("the name of the step", &self.step)?)
    }

    /// Returns the checkpoint as it is saved under a number.
    pub fn store(self, seq: u64, now: Timestamp) -> Checkpoint {
        Checkpoint {
            seq,
            step: self.step,
            is_snapshot: self.is_snapshot,
            data: self.data,
            created_at: now,
        }
    }
}

/// A store of the checkpoints of runs, beside a [`SessionStore`](crate::SessionStore).
///
/// The first checkpoint of a run must be a snapshot. Between snapshots there can be any number of patches, so that checkpoints
/// grow with what changes and not with the state. Checkpoints are deleted with their session.
///
/// Every implementation must pass the suite `agcore_testkit::stores::checkpoints`. What is common to all stores is described at
/// [`SessionStore`](crate::SessionStore).
#[async_trait]
pub trait CheckpointStore: Send + Sync + Debug {
    /// Saves a checkpoint if the last one of the run has the number `expected`, 0 if there is none. Returns its number.
    ///
    /// # Errors
    /// - [`Fenced`](crate::SessionErrorKind::Fenced) if the key has a fence whose lease does not hold any more.
    /// - [`Conflict`](crate::SessionErrorKind::Conflict) if the last checkpoint has another number.
    /// - [`NotFound`](crate::SessionErrorKind::NotFound) if the session or the run does not exist.
    /// - [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the checkpoint is not acceptable, or the first one is not a
    ///   snapshot.
    /// - Other errors when the storage fails.
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError>;

    /// Returns the checkpoints that restore the state of a run: its last snapshot, and the patches after it. Empty if the run
    /// has no checkpoint.
    ///
    /// # Errors
    /// When the storage fails or a checkpoint cannot be read.
    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError>;

    /// Returns the checkpoints of a run from a number on, in order.
    ///
    /// # Errors
    /// When the storage fails or a checkpoint cannot be read.
    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError>;

    /// Returns the checkpoints that restore the state at a checkpoint: the last snapshot up to it, and the patches from there
    /// to it. Empty if there is no such checkpoint.
    ///
    /// The default reads all checkpoints of the run; stores read only those that they return.
    ///
    /// # Errors
    /// When the storage fails or a checkpoint cannot be read.
    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        let mut all = self.checkpoints(run, 0).await?;
        all.truncate(all.partition_point(|checkpoint| checkpoint.seq <= seq));
        if all.last().is_none_or(|last| last.seq != seq) {
            return Ok(Vec::new());
        }
        let first = all.iter().rposition(|checkpoint| checkpoint.is_snapshot);
        Ok(all.split_off(first.unwrap_or(0)))
    }

    /// Removes the checkpoints that are not needed to restore the state from the given one on: those before the last snapshot
    /// up to it. The others keep their numbers. Returns how many were removed.
    ///
    /// # Errors
    /// [`Fenced`](crate::SessionErrorKind::Fenced) if the key has a fence whose lease does not hold any more, and other errors
    /// when the storage fails.
    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError>;
}

#[async_trait]
impl<S: CheckpointStore + ?Sized> CheckpointStore for Arc<S> {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        (**self).save_checkpoint(run, expected, checkpoint).await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        (**self).latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        (**self).checkpoints(run, from).await
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        (**self).checkpoints_at(run, seq).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        (**self).trim_checkpoints(run, before).await
    }
}
