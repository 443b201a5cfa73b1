//! Rows of schedules.

use agcore_chat::Actor;
use agcore_schedule::{DuePlace, NewSchedule, Occurrence, Outcome, Overlap, Schedule, ScheduleFilter};
use serde::Serialize;

use super::{Conditions, Value, row::SqlRow};
use crate::error::{StoreError, StoreErrorKind};

/// The values of a schedule that are stored as JSON.
pub(crate) struct ScheduleJson {
    pub(crate) timing: String,
    pub(crate) job: String,
    pub(crate) catch_up: String,
    pub(crate) last: Option<String>,
    pub(crate) last_run: Option<String>,
}

impl ScheduleJson {
    /// Writes the values of a schedule.
    pub(crate) fn new(schedule: &Schedule) -> Result<Self, StoreError> {
        Ok(Self {
            timing: json(&schedule.timing)?,
            job: json(&schedule.job)?,
            catch_up: json(&schedule.catch_up)?,
            last: schedule.last.as_ref().map(json).transpose()?,
            last_run: schedule.last_run.as_ref().map(json).transpose()?,
        })
    }
}

/// Writes a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| {
        StoreError::with_source(
            StoreErrorKind::Serialization,
            "cannot write a part of the schedule",
            error,
        )
    })
}

/// Reads a schedule.
pub(crate) fn read_schedule<R: SqlRow>(row: &R) -> Result<Schedule, R::Error> {
    let mut owner = Actor::new(row.text("tenant")?, row.text("user")?);
    owner.line = row.optional_text("line")?.map(Into::into);
    let mut new = NewSchedule::new(row.text("id")?, row.json("timing")?, row.json("job")?)
        .with_owner(owner)
        .with_catch_up(row.json("catch_up")?)
        .with_overlap(row.named("overlap", Overlap::from_name)?);
    new.title = row.optional_prose("title")?;
    new.is_paused = row.number("is_paused")? != 0;
    let mut schedule = new.restore(row.time("created_at")?);
    schedule.next_at = row.optional_time("next_at")?;
    schedule.last = row.optional_json("last")?;
    schedule.last_run = row.optional_json("last_run")?;
    schedule.revision = row.count("revision")?;
    schedule.updated_at = row.time("updated_at")?;
    Ok(schedule)
}

/// Reads a schedule that is due, with its place. A schedule that cannot be read is `None`.
pub(crate) fn read_due<R: SqlRow>(row: &R) -> Result<(DuePlace, Option<Schedule>), R::Error> {
    let place = DuePlace::new(row.time("next_at")?, row.text("tenant")?, row.text("id")?);
    Ok((place, read_schedule(row).ok()))
}

/// Reads an occurrence.
pub(crate) fn read_occurrence<R: SqlRow>(row: &R) -> Result<Occurrence, R::Error> {
    let at = row.time("at")?;
    let mut occurrence = Occurrence::started(at, row.optional_json("run")?);
    occurrence.outcome = row.named("outcome", Outcome::from_name)?;
    occurrence.count = row.count("count")?;
    Ok(occurrence)
}

impl Conditions {
    /// Selects the schedules that a filter selects.
    pub(crate) fn schedules(filter: &ScheduleFilter) -> Self {
        let all = Self::tenant(&filter.tenant);
        let all = match &filter.user {
            Some(user) => all.and(Self::new("\"user\" = ?", [Value::Text(user.to_string())])),
            None => all,
        };
        all.after("id", filter.after.as_deref())
    }
}
