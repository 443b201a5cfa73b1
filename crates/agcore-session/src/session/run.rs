//! Runs of a session.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use agcore_chat::{Timestamp, id};

use crate::{error::SessionError, lease::LeaseState, run_status::RunStatus};

/// The last millisecond of the year 9999.
const LAST_TIME: i64 = 253_402_300_799_999;

/// A run: the work that one input causes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Run {
    /// The id, unique within the session.
    pub id: String,
    /// The status.
    pub status: RunStatus,
    /// The input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// The result of the run: an error, an outcome.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Value>,
    /// The time at which the run was first stored, set by the store.
    pub created_at: Timestamp,
    /// The time of the last change, set by the store.
    pub updated_at: Timestamp,
    /// When the run has its turn, and which worker has it. See [`RunLeases`](crate::RunLeases).
    #[serde(default)]
    pub lease: LeaseState,
}

/// The progress of a run, for those who follow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunProgress {
    /// The status.
    pub status: RunStatus,
    /// Whether the run has failed because it was [claimed too often](LeaseState::dead_at).
    pub is_dead: bool,
    /// The number of the last event of the session, which may be one of another run; 0 if there is none.
    pub last_event: u64,
}

impl RunProgress {
    /// Creates the progress of a run.
    pub const fn new(status: RunStatus, is_dead: bool, last_event: u64) -> Self {
        Self {
            status,
            is_dead,
            last_event,
        }
    }
}

/// A new run, or a new status of a run, to be stored with a [`Commit`](super::Commit).
///
/// ```
/// use agcore_session::{RunChange, RunStatus};
/// use serde_json::json;
///
/// let start = RunChange::new("r1", RunStatus::Running).with_input(json!({"text": "Hello"}));
/// let end = RunChange::new("r1", RunStatus::Completed);
/// # start.check()?;
/// # Ok::<(), agcore_session::SessionError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RunChange {
    /// The id, unique within the session.
    pub id: String,
    /// The new status.
    pub status: RunStatus,
    /// The input, for a new run. The input of a run that exists is not changed.
    pub input: Option<Value>,
    /// The result of the run.
    pub outcome: Option<Value>,
    /// The priority of a new run; see [`LeaseState::priority`]. That of a run that exists is not changed.
    pub priority: i16,
    /// The time before which no worker starts a new run. That of a run that exists is not changed.
    pub not_before: Option<Timestamp>,
}

impl RunChange {
    /// Creates a run with this status, or changes the status of the run that has this id.
    pub fn new(id: impl Into<String>, status: RunStatus) -> Self {
        Self {
            id: id.into(),
            status,
            input: None,
            outcome: None,
            priority: 0,
            not_before: None,
        }
    }

    /// Sets the input of a new run.
    #[must_use]
    pub fn with_input(mut self, input: Value) -> Self {
        self.input = Some(input);
        self
    }

    /// Sets what the run ends with.
    #[must_use]
    pub fn with_outcome(mut self, outcome: Value) -> Self {
        self.outcome = Some(outcome);
        self
    }

    /// Sets the priority of a new run. See [`LeaseState::priority`].
    #[must_use]
    pub fn with_priority(mut self, priority: i16) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the time before which no worker starts a new run.
    #[must_use]
    pub fn with_not_before(mut self, time: Timestamp) -> Self {
        self.not_before = Some(time);
        self
    }

    /// Checks that every store can keep the run.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the id or the time of the start is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        id::check_named("the id of the run", &self.id)?;
        match self.not_before.map(Timestamp::as_millis) {
            Some(time) if !(0..=LAST_TIME).contains(&time) => Err(SessionError::invalid(format!(
                "the run `{}` cannot start at {time} ms: use a time between the years 1970 and 9999",
                self.id
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the run as it is after it was first stored.
    pub fn create(self, now: Timestamp) -> Run {
        Run {
            id: self.id,
            status: self.status,
            input: self.input,
            outcome: self.outcome,
            created_at: now,
            updated_at: now,
            lease: LeaseState::new(self.priority, self.not_before, now),
        }
    }

    /// Returns the run as it is stored: a new one, or the known one after the change. Times do not go backwards, even if the
    /// clock does.
    ///
    /// # Errors
    /// [`InvalidState`](crate::SessionErrorKind::InvalidState) if the run cannot get the new status.
    pub fn apply(self, known: Option<Run>, now: Timestamp) -> Result<Run, SessionError> {
        let Some(known) = known else {
            return Ok(self.create(now));
        };
        if !known.status.can_become(self.status) {
            return Err(SessionError::invalid_state(format!(
                "the run `{}` is {} and cannot become {}",
                self.id, known.status, self.status
            )));
        }
        let mut run = Run {
            status: self.status,
            outcome: self.outcome.or(known.outcome),
            updated_at: now.max(known.updated_at),
            ..known
        };
        if run.status == RunStatus::Interrupted {
            run.lease.end();
        }
        Ok(run)
    }
}
