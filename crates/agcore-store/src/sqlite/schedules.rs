//! The store of schedules.

use agcore_chat::{Actor, Timestamp};
use agcore_schedule::{
    Due, DuePlace, KEPT_OCCURRENCES, NewSchedule, Occurrence, Schedule, ScheduleChange, ScheduleError, ScheduleFilter,
    ScheduleStore,
};
use async_trait::async_trait;
use rusqlite::{Connection, params, params_from_iter};

use super::{
    SqliteStore,
    rows::{execute, limit, number, select, select_one},
};
use crate::{
    error::StoreError,
    sql::{
        Conditions, Value,
        schedules::{ScheduleJson, json, read_due, read_occurrence, read_schedule},
    },
};

pub(super) const COLUMNS: &str = "tenant, id, user, line, title, timing, job, catch_up, overlap, is_paused, next_at, \
                                  last, last_run, revision, created_at, updated_at";

#[async_trait]
impl ScheduleStore for SqliteStore {
    async fn create(&self, schedule: NewSchedule) -> Result<Schedule, ScheduleError> {
        let clock = self.clock();
        self.write(move |connection| insert(connection, schedule.store(clock.now().into())?))
            .await
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<Schedule>, ScheduleError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.read(move |connection| find(connection, &tenant, &id)).await
    }

    async fn list(&self, filter: &ScheduleFilter) -> Result<Vec<Schedule>, ScheduleError> {
        let conditions = Conditions::schedules(filter);
        let count = Value::Integer(limit(filter.limit));
        self.read(move |connection| {
            let condition = conditions.sql();
            let sql = format!("SELECT {COLUMNS} FROM schedules WHERE {condition} ORDER BY id LIMIT ?");
            let params = params_from_iter(conditions.values().iter().chain([&count]));
            select(connection, "cannot list the schedules", &sql, params, |row| {
                read_schedule(row)
            })
        })
        .await
    }

    async fn change(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: ScheduleChange,
    ) -> Result<Schedule, ScheduleError> {
        let (tenant, id, clock) = (tenant.to_owned(), id.to_owned(), self.clock());
        self.write(move |connection| {
            let found = find(connection, &tenant, &id)?;
            let schedule = found.ok_or_else(|| ScheduleError::not_found(&id))?;
            schedule.check_revision(revision)?;
            let changed = change.apply(&schedule, clock.now().into())?;
            update(connection, &schedule, &changed)?;
            Ok(changed)
        })
        .await
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, ScheduleError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.write(move |connection| {
            let sql = "DELETE FROM schedules WHERE tenant = ?1 AND id = ?2";
            let deleted = execute(connection, "cannot delete the schedule", sql, [tenant, id])?;
            Ok(deleted > 0)
        })
        .await
    }

    async fn due(&self, after: Option<&DuePlace>, count: u64) -> Result<Due, ScheduleError> {
        let clock = self.clock();
        // The empty place is before all others.
        let (at, tenant, id) = after.map_or((i64::MIN, String::new(), String::new()), |after| {
            (after.at.as_millis(), after.tenant.to_string(), after.id.clone())
        });
        self.read(move |connection| {
            let now: Timestamp = clock.now().into();
            let sql = format!(
                "SELECT {COLUMNS} FROM schedules WHERE next_at <= ?1 AND (next_at, tenant, id) > (?2, ?3, ?4)
                 ORDER BY next_at, tenant, id LIMIT ?5"
            );
            let params = params![now.as_millis(), at, tenant, id, number(count)];
            let found = select(connection, "cannot list the due schedules", &sql, params, |row| {
                read_due(row)
            });
            Ok(Due::new(now, count, found?))
        })
        .await
    }

    async fn record(
        &self,
        schedule: &Schedule,
        occurrences: Vec<Occurrence>,
        next_at: Option<Timestamp>,
    ) -> Result<bool, ScheduleError> {
        occurrences.iter().try_for_each(Occurrence::check)?;
        let schedule = schedule.clone();
        self.write(move |connection| {
            let recorded = schedule.recorded(&occurrences, next_at);
            match update(connection, &schedule, &recorded)? {
                Some(key) => insert_all(connection, key, &occurrences).map(|()| true),
                None => Ok(false),
            }
        })
        .await
    }

    async fn occurrences(&self, tenant: &str, id: &str, count: u64) -> Result<Vec<Occurrence>, ScheduleError> {
        let (tenant, id) = (tenant.to_owned(), id.to_owned());
        self.read(move |connection| {
            let sql = "SELECT at, run, outcome, count FROM schedule_occurrences
                       WHERE schedule = (SELECT schedule FROM schedules WHERE tenant = ?1 AND id = ?2)
                       ORDER BY at DESC LIMIT ?3";
            let params = params![tenant, id, number(count)];
            select(connection, "cannot list the occurrences", sql, params, |row| {
                read_occurrence(row)
            })
        })
        .await
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, ScheduleError> {
        let owner = [owner.tenant.to_string(), owner.user.to_string()];
        let erase = move |connection: &Connection| {
            let sql = "DELETE FROM schedules WHERE tenant = ?1 AND user = ?2";
            execute(connection, "cannot erase the schedules", sql, owner)
        };
        let erased = self.write::<_, StoreError>(erase).await?;
        self.truncate_log().await?;
        Ok(erased)
    }
}

fn find(connection: &Connection, tenant: &str, id: &str) -> Result<Option<Schedule>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM schedules WHERE tenant = ?1 AND id = ?2");
    let read = "cannot read the schedule";
    select_one(connection, read, &sql, [tenant, id], |row| read_schedule(row))
}

fn insert(connection: &Connection, schedule: Schedule) -> Result<Schedule, StoreError> {
    let sql = format!(
        "INSERT INTO schedules ({COLUMNS})
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, NULL, NULL, ?12, ?13, ?13)
         ON CONFLICT (tenant, id) DO NOTHING"
    );
    let json = ScheduleJson::new(&schedule)?;
    let params = params![
        schedule.tenant(),
        schedule.id,
        &*schedule.owner.user,
        schedule.owner.line.as_deref(),
        schedule.title,
        json.timing,
        json.job,
        json.catch_up,
        schedule.overlap.as_str(),
        schedule.is_paused,
        schedule.next_at.map(Timestamp::as_millis),
        number(schedule.revision),
        schedule.created_at.as_millis(),
    ];
    match execute(connection, "cannot create the schedule", &sql, params)? {
        0 => Err(ScheduleError::already_exists(&schedule.id).into()),
        _ => Ok(schedule),
    }
}

/// Writes a version of a schedule over the one before. Returns the key of the row, or `None` if that version is not stored any
/// more.
fn update(connection: &Connection, before: &Schedule, after: &Schedule) -> Result<Option<i64>, StoreError> {
    let sql = "UPDATE schedules SET title = ?5, timing = ?6, job = ?7, catch_up = ?8, overlap = ?9, is_paused = ?10,
                   next_at = ?11, last = ?12, last_run = ?13, revision = ?14, updated_at = ?15
               WHERE tenant = ?1 AND id = ?2 AND revision = ?3 AND created_at = ?4 RETURNING schedule";
    let json = ScheduleJson::new(after)?;
    let params = params![
        before.tenant(),
        before.id,
        number(before.revision),
        before.created_at.as_millis(),
        after.title,
        json.timing,
        json.job,
        json.catch_up,
        after.overlap.as_str(),
        after.is_paused,
        after.next_at.map(Timestamp::as_millis),
        json.last,
        json.last_run,
        number(after.revision),
        after.updated_at.as_millis(),
    ];
    select_one(connection, "cannot write the schedule", sql, params, |row| {
        row.get("schedule")
    })
}

/// Writes occurrences, and deletes those that are too many.
fn insert_all(connection: &Connection, schedule: i64, occurrences: &[Occurrence]) -> Result<(), StoreError> {
    let attempt = "cannot record the occurrences";
    for occurrence in occurrences {
        let sql = "INSERT INTO schedule_occurrences (schedule, at, run, outcome, count) VALUES (?1, ?2, ?3, ?4, ?5)
                   ON CONFLICT (schedule, at) DO NOTHING";
        let params = params![
            schedule,
            occurrence.at.as_millis(),
            occurrence.run.as_ref().map(json).transpose()?,
            occurrence.outcome.as_str(),
            number(occurrence.count),
        ];
        execute(connection, attempt, sql, params)?;
    }
    let sql = "DELETE FROM schedule_occurrences WHERE schedule = ?1 AND at <= (
                   SELECT at FROM schedule_occurrences WHERE schedule = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2
               )";
    execute(connection, attempt, sql, params![schedule, number(KEPT_OCCURRENCES)]).map(drop)
}
