//! Writes schedules and their occurrences.

use agcore_chat::Timestamp;
use agcore_schedule::{KEPT_OCCURRENCES, Occurrence, Schedule};
use sqlx::Row;

use crate::{
    error::StoreError,
    postgres::{
        connection::{
            statement::{FetchRow, Statement},
            transaction::Transaction,
        },
        error::convert,
        query::number,
        text,
    },
    sql::schedules::{ScheduleJson, json},
};

/// Returns the statement that creates a schedule. It changes no row if there is one with this id.
pub(super) fn inserting(schedule: &Schedule) -> Result<Statement<'_>, StoreError> {
    let sql = "INSERT INTO schedules
               (tenant, id, \"user\", line, title, timing, job, catch_up, overlap, is_paused, next_at, revision, created_at,
                updated_at)
               VALUES ($1, $2, $3, $4, $5, $6::json, $7::json, $8::json, $9, $10, $11, $12, $13, $13)
               ON CONFLICT (tenant, id) DO NOTHING";
    let json = ScheduleJson::new(schedule)?;
    Ok(sqlx::query(sql)
        .bind(schedule.tenant())
        .bind(&schedule.id)
        .bind(&*schedule.owner.user)
        .bind(schedule.owner.line.as_deref())
        .bind(schedule.title.as_deref().map(text::encode))
        .bind(json.timing)
        .bind(json.job)
        .bind(json.catch_up)
        .bind(schedule.overlap.as_str())
        .bind(schedule.is_paused)
        .bind(schedule.next_at.map(Timestamp::as_millis))
        .bind(number(schedule.revision))
        .bind(schedule.created_at.as_millis()))
}

/// Returns the statement that writes a version of a schedule over the one before, and returns the key of its row. There is none if
/// that version is not stored any more.
pub(super) fn updating<'q>(before: &'q Schedule, after: &'q Schedule) -> Result<Statement<'q>, StoreError> {
    let sql = "UPDATE schedules SET title = $5, timing = $6::json, job = $7::json, catch_up = $8::json, overlap = $9,
                   is_paused = $10, next_at = $11, last = $12::json, last_run = $13::json, revision = $14, updated_at = $15
               WHERE tenant = $1 AND id = $2 AND revision = $3 AND created_at = $4 RETURNING schedule";
    let json = ScheduleJson::new(after)?;
    Ok(sqlx::query(sql)
        .bind(before.tenant())
        .bind(&before.id)
        .bind(number(before.revision))
        .bind(before.created_at.as_millis())
        .bind(after.title.as_deref().map(text::encode))
        .bind(json.timing)
        .bind(json.job)
        .bind(json.catch_up)
        .bind(after.overlap.as_str())
        .bind(after.is_paused)
        .bind(after.next_at.map(Timestamp::as_millis))
        .bind(json.last)
        .bind(json.last_run)
        .bind(number(after.revision))
        .bind(after.updated_at.as_millis()))
}

/// Writes occurrences with the version of the schedule that follows from them, and deletes the occurrences that are too many.
/// Returns whether the version before was still stored.
pub(super) async fn record(
    transaction: &mut Transaction<'_>,
    (before, after): (&Schedule, &Schedule),
    occurrences: &[Occurrence],
) -> Result<bool, StoreError> {
    let attempt = "cannot record the occurrences";
    let Some(row) = transaction.row(attempt, updating(before, after)?).await? else {
        return Ok(false);
    };
    let schedule: i64 = row.try_get("schedule").map_err(|error| convert(attempt, error))?;
    for occurrence in occurrences {
        let sql = "INSERT INTO schedule_occurrences (schedule, at, run, outcome, count)
                   VALUES ($1, $2, $3::json, $4, $5) ON CONFLICT (schedule, at) DO NOTHING";
        let statement = sqlx::query(sql)
            .bind(schedule)
            .bind(occurrence.at.as_millis())
            .bind(occurrence.run.as_ref().map(json).transpose()?)
            .bind(occurrence.outcome.as_str())
            .bind(number(occurrence.count));
        transaction.execute(attempt, statement).await?;
    }
    let sql = "DELETE FROM schedule_occurrences WHERE schedule = $1 AND at <= (
                   SELECT at FROM schedule_occurrences WHERE schedule = $1 ORDER BY at DESC LIMIT 1 OFFSET $2
               )";
    let statement = sqlx::query(sql).bind(schedule).bind(number(KEPT_OCCURRENCES));
    transaction.execute(attempt, statement).await?;
    Ok(true)
}
