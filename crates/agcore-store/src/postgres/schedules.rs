//! The store of schedules. All times are those of the server.

mod write;

use agcore_chat::{Actor, Timestamp};
use agcore_schedule::{
    Due, DuePlace, NewSchedule, Occurrence, Schedule, ScheduleChange, ScheduleError, ScheduleFilter, ScheduleStore,
};
use async_trait::async_trait;

use super::{
    PostgresStore,
    connection::statement::FetchRow,
    error::convert,
    query::{bind_all, number, numbered, statement},
    text::lookup,
};
use crate::{
    error::StoreError,
    sql::{
        Conditions,
        schedules::{read_due, read_occurrence, read_schedule},
    },
};

/// The columns that [`read_schedule`] reads.
macro_rules! COLUMNS {
    () => {
        "tenant, id, \"user\", line, title, timing::text AS timing, job::text AS job, catch_up::text AS catch_up, overlap, \
         is_paused::integer::bigint AS is_paused, next_at, last::text AS last, last_run::text AS last_run, revision, \
         created_at, updated_at"
    };
}

pub(super) use COLUMNS;

#[async_trait]
impl ScheduleStore for PostgresStore {
    async fn create(&self, schedule: NewSchedule) -> Result<Schedule, ScheduleError> {
        let schedule = schedule.store(self.time().await?)?;
        let statement = write::inserting(&schedule)?;
        match self
            .statements()
            .execute("cannot create the schedule", statement)
            .await?
        {
            0 => Err(ScheduleError::already_exists(&schedule.id)),
            _ => Ok(schedule),
        }
    }

    async fn get(&self, tenant: &str, id: &str) -> Result<Option<Schedule>, ScheduleError> {
        Ok(find(&mut self.statements(), tenant, id).await?)
    }

    async fn list(&self, filter: &ScheduleFilter) -> Result<Vec<Schedule>, ScheduleError> {
        let conditions = Conditions::schedules(filter);
        let sql = format!(
            concat!("SELECT ", COLUMNS!(), " FROM schedules WHERE {} ORDER BY id LIMIT ${}"),
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let listing = bind_all(statement(sql), &conditions).bind(filter.limit.map(number));
        Ok(self.select("cannot list the schedules", listing, read_schedule).await?)
    }

    async fn change(
        &self,
        tenant: &str,
        id: &str,
        revision: u64,
        change: ScheduleChange,
    ) -> Result<Schedule, ScheduleError> {
        let found = self.get(tenant, id).await?;
        let schedule = found.ok_or_else(|| ScheduleError::not_found(id))?;
        schedule.check_revision(revision)?;
        let changed = change.apply(&schedule, self.time().await?)?;
        let row = self
            .statements()
            .row("cannot write the schedule", write::updating(&schedule, &changed)?);
        if row.await?.is_some() {
            return Ok(changed);
        }
        // Another writer was faster, or has deleted the schedule.
        let found = self.get(tenant, id).await?;
        let found = found.ok_or_else(|| ScheduleError::not_found(id))?;
        Err(ScheduleError::conflict(id, revision, found.revision))
    }

    async fn delete(&self, tenant: &str, id: &str) -> Result<bool, ScheduleError> {
        let sql = "DELETE FROM schedules WHERE tenant = $1 AND id = $2";
        let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
        let deleted = self
            .statements()
            .execute("cannot delete the schedule", statement)
            .await?;
        Ok(deleted > 0)
    }

    async fn due(&self, after: Option<&DuePlace>, count: u64) -> Result<Due, ScheduleError> {
        let attempt = "cannot list the due schedules";
        // The time comes first, so that it is also known if nothing is due.
        let now = self.time().await?;
        let sql = concat!(
            "SELECT ",
            COLUMNS!(),
            " FROM schedules WHERE next_at <= $1 AND (next_at, tenant, id) > ($2, $3, $4)
             ORDER BY next_at, tenant, id LIMIT $5"
        );
        // The empty place is before all others.
        let (at, tenant, id) = after.map_or((i64::MIN, "", ""), |after| {
            (after.at.as_millis(), &*after.tenant, &*after.id)
        });
        let place = sqlx::query(sql).bind(now.as_millis()).bind(at).bind(tenant).bind(id);
        let statement = place.bind(number(count));
        Ok(Due::new(now, count, self.select(attempt, statement, read_due).await?))
    }

    async fn record(
        &self,
        schedule: &Schedule,
        occurrences: Vec<Occurrence>,
        next_at: Option<Timestamp>,
    ) -> Result<bool, ScheduleError> {
        occurrences.iter().try_for_each(Occurrence::check)?;
        let attempt = "cannot record the occurrences";
        let recorded = schedule.recorded(&occurrences, next_at);
        let mut transaction = self.statements().begin(attempt).await?;
        let written = write::record(&mut transaction, (schedule, &recorded), &occurrences).await;
        Ok(transaction.end(attempt, written).await?)
    }

    async fn occurrences(&self, tenant: &str, id: &str, count: u64) -> Result<Vec<Occurrence>, ScheduleError> {
        let sql = "SELECT at, run::text AS run, outcome, count FROM schedule_occurrences
                   WHERE schedule = (SELECT schedule FROM schedules WHERE tenant = $1 AND id = $2)
                   ORDER BY at DESC LIMIT $3";
        let statement = sqlx::query(sql)
            .bind(lookup(tenant))
            .bind(lookup(id))
            .bind(number(count));
        Ok(self
            .select("cannot list the occurrences", statement, read_occurrence)
            .await?)
    }

    async fn erase(&self, owner: &Actor) -> Result<u64, ScheduleError> {
        let sql = "DELETE FROM schedules WHERE tenant = $1 AND \"user\" = $2";
        let statement = sqlx::query(sql).bind(lookup(&owner.tenant)).bind(lookup(&owner.user));
        Ok(self
            .statements()
            .execute("cannot erase the schedules", statement)
            .await?)
    }
}

async fn find(connection: &mut impl FetchRow, tenant: &str, id: &str) -> Result<Option<Schedule>, StoreError> {
    let attempt = "cannot read the schedule";
    let sql = concat!("SELECT ", COLUMNS!(), " FROM schedules WHERE tenant = $1 AND id = $2");
    let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
    let row = connection.row(attempt, statement).await?;
    let read = row.as_ref().map(read_schedule).transpose();
    read.map_err(|error| convert(attempt, error))
}
