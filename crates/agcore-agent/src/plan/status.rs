//! [`StepStatus`]: how far a step is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The progress of a step. It changes in one direction only.
///
/// ```
/// use agcore_agent::StepStatus;
///
/// assert!(StepStatus::Pending.can_become(StepStatus::Running));
/// assert!(!StepStatus::Completed.can_become(StepStatus::Running));
/// assert_eq!(StepStatus::Skipped.to_string(), "skipped");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepStatus {
    /// It has not started.
    #[default]
    Pending,
    /// It is being carried out.
    Running,
    /// It was carried out.
    Completed,
    /// It could not be carried out.
    Failed,
    /// It was not started, because a step failed on which it depends.
    Skipped,
}

impl StepStatus {
    /// Returns whether a step with this status can get another one.
    pub const fn can_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Pending, Self::Running | Self::Skipped) | (Self::Running, Self::Completed | Self::Failed)
        )
    }

    /// Returns whether the step has ended.
    pub const fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Skipped)
    }

    /// Returns the name of the status in JSON and in events.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl fmt::Display for StepStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
