//! Reading, checking and writing the lease of a run.

use agcore_chat::{Clock, Timestamp};
use agcore_session::{Actor, DeadLetter, Fence, Lease, LeaseState, RunLimits, RunStatus};
use rusqlite::{Connection, Row, params};

use crate::{
    error::StoreError,
    sql::{
        leases::{count_runs, read_counts},
        row::SqlRow,
        tables::{LEASE_COLUMNS, read_lease},
    },
    sqlite::rows::{execute, number, select_one},
};

/// A run with its lease.
pub(super) struct Found {
    /// The key in its table.
    pub(super) run: i64,
    pub(super) status: RunStatus,
    pub(super) lease: LeaseState,
}

/// Returns a run, if it exists.
pub(super) fn find(connection: &Connection, [tenant, session, run]: [&str; 3]) -> Result<Option<Found>, StoreError> {
    let sql = format!(
        "SELECT runs.run AS run, {LEASE_COLUMNS} FROM sessions JOIN runs USING (session)
         WHERE sessions.tenant = ?1 AND sessions.id = ?2 AND runs.id = ?3"
    );
    let read = |row: &Row<'_>| {
        Ok(Found {
            run: row.get("run")?,
            status: row.named("status", RunStatus::from_name)?,
            lease: read_lease(row)?,
        })
    };
    select_one(connection, "cannot read the lease", &sql, [tenant, session, run], read)
}

/// Returns a run, which must exist.
pub(super) fn find_existing(connection: &Connection, key: &[String; 3]) -> Result<Found, StoreError> {
    let [tenant, session, run] = key;
    find(connection, [tenant, session, run])?
        .ok_or_else(|| StoreError::not_found(format!("the session `{session}` has no run `{run}`")))
}

/// Returns the run of a lease, if it still holds.
pub(super) fn held(connection: &Connection, lease: &Lease, now: Timestamp) -> Result<Option<Found>, StoreError> {
    let found = find(connection, [&lease.tenant, &lease.session, &lease.run])?;
    Ok(found.filter(|found| found.lease.permits(found.status, lease.epoch, now)))
}

/// Checks that the lease of a write holds. No other transaction can change it before this one ends.
pub(in crate::sqlite) fn check_fence(
    connection: &Connection,
    tenant: &str,
    fence: Option<&Fence>,
    clock: &dyn Clock,
) -> Result<(), StoreError> {
    let Some(fence) = fence else { return Ok(()) };
    let found = find(connection, [tenant, &fence.session, &fence.run])?;
    let now = clock.now().into();
    match found.is_some_and(|found| found.lease.permits(found.status, fence.epoch, now)) {
        true => Ok(()),
        false => Err(fence.refuse().into()),
    }
}

/// Checks that one more run of an actor is allowed. No other transaction can begin one before this one ends.
pub(in crate::sqlite) fn check_limits(
    connection: &Connection,
    owner: &Actor,
    limits: Option<RunLimits>,
) -> Result<(), StoreError> {
    let Some(limits) = limits else { return Ok(()) };
    let params = params![&*owner.tenant, &*owner.user, owner.line.as_deref()];
    let sql = count_runs(["?1", "?2", "?3"]);
    let counts = select_one(connection, "cannot count the runs", &sql, params, |row| {
        read_counts(row)
    })?;
    Ok(limits.check(counts.unwrap_or_default())?)
}

/// Writes what claims and what follows them change.
pub(super) fn write_state(connection: &Connection, run: i64, lease: &LeaseState) -> Result<(), StoreError> {
    let sql = "UPDATE runs SET not_before = ?2, attempts = ?3, epoch = ?4, holder = ?5, worker = ?6, lease_until = ?7,
                   cancel_requested_at = ?8
               WHERE run = ?1";
    let time = |time: Option<Timestamp>| time.map(Timestamp::as_millis);
    let params = params![
        run,
        time(lease.not_before),
        lease.attempts,
        number(lease.epoch),
        lease.holder,
        lease.worker,
        time(lease.lease_until),
        time(lease.cancel_requested_at),
    ];
    execute(connection, "cannot write the lease", sql, params).map(drop)
}

/// Reads a dead letter.
pub(super) fn read_dead(row: &Row<'_>) -> rusqlite::Result<DeadLetter> {
    let key = (row.text("tenant")?, row.text("session_id")?, row.text("id")?);
    let attempts = row.get("attempts")?;
    Ok(DeadLetter::new(
        key,
        attempts,
        row.optional_text("worker")?,
        row.time("dead_at")?,
    ))
}
