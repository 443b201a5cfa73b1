//! [`RunStatus`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// The status of a run.
///
/// | from | to |
/// |---|---|
/// | `Queued` | `Running`, `Failed`, `Cancelled` |
/// | `Running` | `Interrupted`, `Completed`, `Failed`, `Cancelled` |
/// | `Interrupted` | `Running`, `Failed`, `Cancelled` |
/// | `Completed`, `Failed`, `Cancelled` | none: the run is over |
///
/// One way leads back: a [dead letter](crate::DeadLetter), which is `Failed`, is `Queued` again after
/// [`revive`](crate::RunLeases::revive).
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

    /// Returns whether a worker can work on the run, or take it.
    pub const fn is_workable(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
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
