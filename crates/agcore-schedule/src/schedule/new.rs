//! [`NewSchedule`]: a schedule to create.

use agcore_chat::{Actor, Timestamp, id};
use serde_json::Value;

use super::{MAX_SCHEDULE_ID_BYTES, Schedule};
use crate::{
    error::ScheduleError,
    policy::{CatchUp, Overlap},
    timing::Timing,
};

/// A schedule to create.
///
/// ```
/// use agcore_chat::Actor;
/// use agcore_schedule::{CatchUp, NewSchedule, Overlap, Timing};
/// use serde_json::json;
///
/// let new = NewSchedule::new("news", Timing::cron_in("0 7 * * *", "Asia/Tokyo"), json!({"prompt": "What is new?"}))
///     .with_owner(Actor::new("acme", "ann"))
///     .with_title("News of the morning")
///     .with_catch_up(CatchUp::Skip)
///     .with_overlap(Overlap::Queue);
/// # let _ = new;
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewSchedule {
    /// The id, unique within the tenant.
    pub id: String,
    /// The user for whom the job runs, with the tenant.
    pub owner: Actor,
    /// The title, for people.
    pub title: Option<String>,
    /// The times at which the job runs.
    pub timing: Timing,
    /// The job, in a form that the program chooses.
    pub job: Value,
    /// The policy for occurrences that no process was there to start.
    pub catch_up: CatchUp,
    /// The policy for an occurrence if the run of the one before is not over.
    pub overlap: Overlap,
    /// Whether the schedule is paused from the beginning.
    pub is_paused: bool,
}

impl NewSchedule {
    /// Creates a schedule of the [local](Actor::local) actor, with the default policies and without a title.
    pub fn new(id: impl Into<String>, timing: Timing, job: Value) -> Self {
        Self {
            id: id.into(),
            owner: Actor::local(),
            title: None,
            timing,
            job,
            catch_up: CatchUp::default(),
            overlap: Overlap::default(),
            is_paused: false,
        }
    }

    /// Sets the user for whom the job runs, with the tenant.
    #[must_use]
    pub fn with_owner(mut self, owner: Actor) -> Self {
        self.owner = owner;
        self
    }

    /// Sets the title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets what happens with occurrences that no process was there to start.
    #[must_use]
    pub fn with_catch_up(mut self, catch_up: CatchUp) -> Self {
        self.catch_up = catch_up;
        self
    }

    /// Sets what happens with an occurrence if the run of the one before is not over.
    #[must_use]
    pub fn with_overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = overlap;
        self
    }

    /// Pauses the schedule from the beginning.
    #[must_use]
    pub fn paused(mut self) -> Self {
        self.is_paused = true;
        self
    }

    /// Returns the schedule as it is stored at a time. For implementations of [`ScheduleStore`](crate::ScheduleStore).
    ///
    /// # Errors
    /// [`InvalidInput`](crate::ScheduleErrorKind::InvalidInput) with the reason why it cannot be stored, also if it would have no
    /// occurrence any more.
    pub fn store(self, now: Timestamp) -> Result<Schedule, ScheduleError> {
        id::check_named("the id of the schedule", &self.id)?;
        if self.id.len() > MAX_SCHEDULE_ID_BYTES {
            let length = self.id.len();
            return Err(ScheduleError::invalid(format!(
                "the id of the schedule has {length} bytes; at most {MAX_SCHEDULE_ID_BYTES} are allowed"
            )));
        }
        if self.id.chars().any(char::is_control) {
            return Err(ScheduleError::invalid(
                "the id of the schedule contains a control character",
            ));
        }
        self.owner.check()?;
        let mut new = self;
        new.timing = new.timing.started(now);
        let schedule = new.restore(now);
        let mut schedule = schedule.begin(now)?;
        if schedule.is_paused {
            schedule.next_at = None;
        }
        Ok(schedule)
    }

    /// Returns the schedule without checks, as it was when it was created. For implementations of
    /// [`ScheduleStore`](crate::ScheduleStore), which set what was stored since.
    pub fn restore(self, created_at: Timestamp) -> Schedule {
        Schedule {
            id: self.id,
            owner: self.owner,
            title: self.title,
            timing: self.timing,
            job: self.job,
            catch_up: self.catch_up,
            overlap: self.overlap,
            is_paused: self.is_paused,
            next_at: None,
            last: None,
            last_run: None,
            revision: 1,
            created_at,
            updated_at: created_at,
        }
    }
}
