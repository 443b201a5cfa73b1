//! The table of runs.

use agcore_chat::Timestamp;
use agcore_session::{LeaseState, Run, RunChange, RunStatus};

use super::{Cell, Column, Table};
use crate::sql::row::SqlRow;

/// The condition under which a run that is written gives its worker back: it waits for a person.
const IS_INTERRUPTED: &str = "excluded.status = 'interrupted'";

/// The runs of sessions. The columns of the lease are written with a new run; after that, only claims and what follows them write
/// them, because others do not wait for these. The exception is a run that waits for a person: it has no worker.
pub(crate) const RUNS: Table<Run> = Table {
    name: "runs",
    key: &["id"],
    columns: &[
        Column::fixed("id", |run| Cell::text(&run.id)),
        Column::changing("status", |run| Cell::text(run.status.as_str())),
        Column::fixed("created_at", |run| Cell::Integer(run.created_at.as_millis())),
        Column::changing("updated_at", |run| Cell::Integer(run.updated_at.as_millis())),
        Column::fixed("priority", |run| Cell::Integer(run.lease.priority.into())),
        Column::fixed("queued_at", |run| Cell::Integer(run.lease.queued_at.as_millis())),
        Column::fixed("not_before", |run| time(run.lease.not_before)),
        Column::fixed("attempts", |run| Cell::Integer(run.lease.attempts.into())),
        Column::fixed("epoch", |run| Cell::Integer(run.lease.epoch.cast_signed())),
        Column::cleared_if("holder", IS_INTERRUPTED, |run| Cell::Text(run.lease.holder.as_deref())),
        Column::fixed("worker", |run| Cell::Text(run.lease.worker.as_deref())),
        Column::cleared_if("lease_until", IS_INTERRUPTED, |run| time(run.lease.lease_until)),
        Column::fixed("cancel_requested_at", |run| time(run.lease.cancel_requested_at)),
        Column::fixed("dead_at", |run| time(run.lease.dead_at)),
        Column::fixed_json("input", |run| Cell::json(run.input.as_ref())),
        Column::changing_json("outcome", |run| Cell::json(run.outcome.as_ref())),
    ],
};

/// The columns that [`read_lease`] reads, and the status.
#[cfg(feature = "sqlite")]
pub(crate) const LEASE_COLUMNS: &str = "runs.status AS status, runs.priority AS priority, runs.queued_at AS queued_at, \
     runs.not_before AS not_before, runs.attempts AS attempts, runs.epoch AS epoch, runs.holder AS holder, \
     runs.worker AS worker, runs.lease_until AS lease_until, runs.cancel_requested_at AS cancel_requested_at, \
     runs.dead_at AS dead_at";

/// Reads a row of [`RUNS`].
pub(crate) fn read_run<R: SqlRow>(row: &R) -> Result<Run, R::Error> {
    let mut change = RunChange::new(row.text("id")?, row.named("status", RunStatus::from_name)?);
    change.input = row.optional_json("input")?;
    change.outcome = row.optional_json("outcome")?;
    let mut run = change.create(row.time("created_at")?);
    run.updated_at = row.time("updated_at")?;
    run.lease = read_lease(row)?;
    Ok(run)
}

/// Reads the lease of a run.
pub(crate) fn read_lease<R: SqlRow>(row: &R) -> Result<LeaseState, R::Error> {
    let priority = row.number("priority")?;
    let priority = i16::try_from(priority).map_err(|error| R::damaged("priority", error.to_string()))?;
    let mut lease = LeaseState::new(priority, row.optional_time("not_before")?, row.time("queued_at")?);
    // The table allows no other numbers.
    lease.attempts = u32::try_from(row.count("attempts")?).unwrap_or(u32::MAX);
    lease.epoch = row.count("epoch")?;
    lease.holder = row.optional_text("holder")?;
    lease.worker = row.optional_text("worker")?;
    lease.lease_until = row.optional_time("lease_until")?;
    lease.cancel_requested_at = row.optional_time("cancel_requested_at")?;
    lease.dead_at = row.optional_time("dead_at")?;
    Ok(lease)
}

fn time(time: Option<Timestamp>) -> Cell<'static> {
    Cell::OptionalInteger(time.map(Timestamp::as_millis))
}
