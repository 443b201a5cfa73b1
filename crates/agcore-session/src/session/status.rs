//! [`SessionStatus`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// The status of a session.
///
/// | from | to |
/// |---|---|
/// | `Pending` | `Running` |
/// | `Running` | `Pending` (it waits for a person), `Completed`, `Failed` |
/// | `Completed`, `Failed` | `Running` (the next run) |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionStatus {
    /// No run has started yet, or the session waits for a person.
    Pending,
    /// A run is going on.
    Running,
    /// The last run ended without an error.
    Completed,
    /// The last run failed or was cancelled.
    Failed,
}

impl SessionStatus {
    /// All statuses.
    pub const ALL: [Self; 4] = [Self::Pending, Self::Running, Self::Completed, Self::Failed];

    /// Returns the name under which stores keep the status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
        }
    }

    /// Returns the status with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }

    /// Returns whether a session with this status can get another one. Keeping the status is always possible.
    pub const fn can_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Pending | Self::Completed | Self::Failed, Self::Running)
                | (Self::Running, _)
                | (Self::Pending, Self::Pending)
                | (Self::Completed, Self::Completed)
                | (Self::Failed, Self::Failed)
        )
    }
}

impl fmt::Display for SessionStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
