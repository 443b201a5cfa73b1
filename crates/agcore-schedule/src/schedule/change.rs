//! [`ScheduleChange`]: a change of a schedule.

use agcore_chat::Timestamp;
use serde_json::Value;

use super::Schedule;
use crate::{
    error::ScheduleError,
    policy::{CatchUp, Overlap},
    timing::Timing,
};

/// A change of a schedule. Members that are not set stay as they are.
///
/// With another timing, and when a schedule is resumed, the next occurrence is the first one after the change: those that have not
/// started by then are not made up for.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ScheduleChange {
    /// The new title, or `Some(None)` to remove it.
    pub title: Option<Option<String>>,
    /// The new timing.
    pub timing: Option<Timing>,
    /// The new job.
    pub job: Option<Value>,
    /// The new policy for missed occurrences.
    pub catch_up: Option<CatchUp>,
    /// The new policy for occurrences while a run is not over.
    pub overlap: Option<Overlap>,
    /// Whether the schedule is to be paused or resumed.
    pub is_paused: Option<bool>,
}

impl ScheduleChange {
    /// Creates a change of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(Some(title.into()));
        self
    }

    /// Removes the title.
    #[must_use]
    pub fn without_title(mut self) -> Self {
        self.title = Some(None);
        self
    }

    /// Sets the timing.
    #[must_use]
    pub fn with_timing(mut self, timing: Timing) -> Self {
        self.timing = Some(timing);
        self
    }

    /// Sets the job.
    #[must_use]
    pub fn with_job(mut self, job: Value) -> Self {
        self.job = Some(job);
        self
    }

    /// Sets the policy for missed occurrences.
    #[must_use]
    pub fn with_catch_up(mut self, catch_up: CatchUp) -> Self {
        self.catch_up = Some(catch_up);
        self
    }

    /// Sets the policy for occurrences while a run is not over.
    #[must_use]
    pub fn with_overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = Some(overlap);
        self
    }

    /// Pauses the schedule. Runs that were started are not affected.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.is_paused = Some(true);
        self
    }

    /// Resumes the schedule, with the first occurrence after the change.
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.is_paused = Some(false);
        self
    }

    /// Returns the schedule after the change at a time. For implementations of [`ScheduleStore`](crate::ScheduleStore).
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) with the reason why the result cannot be stored, also if it has no
    /// occurrence any more after another timing was set, or the schedule was resumed.
    pub fn apply(self, schedule: &Schedule, now: Timestamp) -> Result<Schedule, ScheduleError> {
        let has_timing = self.timing.is_some();
        let timing = self.timing.map(|timing| timing.started(now));
        let changed = Schedule {
            title: self.title.unwrap_or_else(|| schedule.title.clone()),
            timing: timing.unwrap_or_else(|| schedule.timing.clone()),
            job: self.job.unwrap_or_else(|| schedule.job.clone()),
            catch_up: self.catch_up.unwrap_or(schedule.catch_up),
            overlap: self.overlap.unwrap_or(schedule.overlap),
            is_paused: self.is_paused.unwrap_or(schedule.is_paused),
            revision: schedule.revision + 1,
            updated_at: now.max(schedule.updated_at),
            ..schedule.clone()
        };
        let is_resumed = schedule.is_paused && !changed.is_paused;
        let mut changed = match has_timing || is_resumed {
            true => changed.begin(now)?,
            false => {
                changed.check()?;
                changed
            }
        };
        if changed.is_paused {
            changed.next_at = None;
        }
        Ok(changed)
    }
}
