//! [`Schedule`]: a job that runs again and again.

mod change;
mod new;

use agcore_chat::{Actor, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    error::ScheduleError,
    occurrence::{Occurrence, Outcome, RunRef},
    policy::{CatchUp, Overlap},
    timing::Timing,
};

pub use self::{change::ScheduleChange, new::NewSchedule};

/// The maximum length of the id of a schedule in bytes, so that the ids of its runs are acceptable.
pub const MAX_SCHEDULE_ID_BYTES: usize = 100;

/// The maximum size of a job in bytes, as JSON.
pub const MAX_JOB_BYTES: usize = 64 * 1024;

/// The maximum length of a title in bytes.
const MAX_TITLE: usize = 1024;

/// A job that runs at the times of a [`Timing`], and what has become of it so far.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Schedule {
    /// The id, unique within the tenant.
    pub id: String,
    /// The user for whom the job runs, with the tenant.
    pub owner: Actor,
    /// The title, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The times at which the job runs.
    pub timing: Timing,
    /// The job, in a form that the program chooses. Stores do not read it.
    pub job: Value,
    /// The policy for occurrences that no process was there to start.
    pub catch_up: CatchUp,
    /// The policy for an occurrence if the run of the one before is not over.
    pub overlap: Overlap,
    /// Whether the schedule is paused.
    pub is_paused: bool,
    /// The time of the next occurrence. There is none if the schedule is paused, or has no occurrences any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// The occurrence that was recorded last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<Occurrence>,
    /// The run that was started last, also if later occurrences were skipped: the one whose state
    /// [`plan`](Schedule::plan) has to know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_run: Option<RunRef>,
    /// The number of the version, from 1. Each change and each record of occurrences increases it.
    pub revision: u64,
    /// The time at which the schedule was created.
    pub created_at: Timestamp,
    /// The time at which somebody has changed the schedule last. Occurrences do not change it.
    pub updated_at: Timestamp,
}

impl Schedule {
    /// Returns the tenant.
    pub fn tenant(&self) -> &str {
        &self.owner.tenant
    }

    /// Returns the id of the run that an occurrence starts. It is always the same, so that an occurrence that is started again,
    /// after a crash or by another process, is found to be started already.
    ///
    /// ```
    /// use agcore_schedule::{NewSchedule, Timing};
    ///
    /// let new = NewSchedule::new("report", Timing::cron("0 9 * * *"), serde_json::Value::Null);
    /// let schedule = new.store("2026-01-01T00:00:00Z".parse()?)?;
    /// assert_eq!(schedule.run_id("2026-01-01T09:00:00Z".parse()?), "report-20260101T090000Z");
    /// assert_eq!(schedule.run_id("2026-01-01T09:00:00.250Z".parse()?), "report-20260101T090000.250Z");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_id(&self, at: Timestamp) -> String {
        let mut time = at.to_string().replace(['-', ':'], "");
        if let Some(seconds) = time.strip_suffix(".000Z") {
            time = format!("{seconds}Z");
        }
        format!("{}-{time}", self.id)
    }

    /// Checks that a change is to the revision that its writer has read. For implementations of
    /// [`ScheduleStore`](crate::ScheduleStore).
    ///
    /// # Errors
    /// [`Conflict`](crate::ScheduleErrorKind::Conflict) if it is another one.
    pub fn check_revision(&self, expected: u64) -> Result<(), ScheduleError> {
        match self.revision == expected {
            true => Ok(()),
            false => Err(ScheduleError::conflict(&self.id, expected, self.revision)),
        }
    }

    /// Returns whether the other one is the same version of the same schedule, and not of one that was created after this one was
    /// deleted. For implementations of [`ScheduleStore`](crate::ScheduleStore).
    pub fn is_same(&self, other: &Self) -> bool {
        (self.revision, self.created_at) == (other.revision, other.created_at)
            && (self.tenant(), &self.id) == (other.tenant(), &other.id)
    }

    /// Returns the schedule after occurrences were recorded. For implementations of [`ScheduleStore`](crate::ScheduleStore).
    #[must_use]
    pub fn recorded(&self, occurrences: &[Occurrence], next_at: Option<Timestamp>) -> Self {
        let last = occurrences.iter().max_by_key(|occurrence| occurrence.at);
        let started = occurrences
            .iter()
            .filter(|occurrence| occurrence.outcome == Outcome::Started);
        let run = started
            .max_by_key(|occurrence| occurrence.at)
            .and_then(|occurrence| occurrence.run.as_ref());
        Self {
            next_at,
            last: last.or(self.last.as_ref()).cloned(),
            last_run: run.or(self.last_run.as_ref()).cloned(),
            revision: self.revision + 1,
            ..self.clone()
        }
    }

    /// Checks that every store can keep what people have chosen.
    fn check(&self) -> Result<(), ScheduleError> {
        if self.title.as_ref().is_some_and(|title| title.len() > MAX_TITLE) {
            return Err(ScheduleError::invalid(format!(
                "the title has more than {MAX_TITLE} bytes"
            )));
        }
        let size = self.job.to_string().len();
        if size > MAX_JOB_BYTES {
            return Err(ScheduleError::invalid(format!(
                "the job has {size} bytes as JSON; at most {MAX_JOB_BYTES} are allowed"
            )));
        }
        self.timing.check()?;
        self.catch_up.check(self.overlap)
    }

    /// Returns the schedule with its first occurrence after a time.
    fn begin(mut self, now: Timestamp) -> Result<Self, ScheduleError> {
        self.check()?;
        self.next_at = self.timing.after(now);
        match self.next_at {
            Some(_) => Ok(self),
            None => Err(ScheduleError::invalid(
                "the schedule would have no occurrence, because its time is over; choose a later one",
            )),
        }
    }
}
