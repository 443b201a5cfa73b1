//! Runs of a session.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use agcore_chat::{Timestamp, id};

use crate::error::SessionError;

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
}

/// The status of a run.
///
/// | from | to |
/// |---|---|
/// | `Queued` | `Running`, `Failed`, `Cancelled` |
/// | `Running` | `Interrupted`, `Completed`, `Failed`, `Cancelled` |
/// | `Interrupted` | `Running`, `Failed`, `Cancelled` |
/// | `Completed`, `Failed`, `Cancelled` | none: the run is over |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// The run waits for its turn.
    Queued,
    /// The run is going on.
    Running,
    /// The run waits for a person.
    Interrupted,
    /// The run ended without an error.
    Completed,
    /// The run failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

impl RunStatus {
    /// All statuses.
    pub const ALL: [Self; 6] = [
        Self::Queued,
        Self::Running,
        Self::Interrupted,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
    ];

    /// Returns the name under which stores keep the status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns the status with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Returns whether the run is over.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Returns whether a run with this status can get another one. Keeping the status is always possible.
    pub fn can_become(self, next: Self) -> bool {
        match self {
            _ if self == next => true,
            Self::Queued => matches!(next, Self::Running | Self::Failed | Self::Cancelled),
            Self::Running => next != Self::Queued,
            Self::Interrupted => matches!(next, Self::Running | Self::Failed | Self::Cancelled),
            Self::Completed | Self::Failed | Self::Cancelled => false,
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
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
}

impl RunChange {
    /// Creates a run with this status, or changes the status of the run that has this id.
    pub fn new(id: impl Into<String>, status: RunStatus) -> Self {
        Self {
            id: id.into(),
            status,
            input: None,
            outcome: None,
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

    /// Checks that every store can keep the run.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::SessionErrorKind::InvalidInput) if the id is not acceptable.
    pub fn check(&self) -> Result<(), SessionError> {
        Ok(id::check_named("the id of the run", &self.id)?)
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
        Ok(Run {
            status: self.status,
            outcome: self.outcome.or(known.outcome),
            updated_at: now.max(known.updated_at),
            ..known
        })
    }
}
