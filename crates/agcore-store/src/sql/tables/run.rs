//! The table of runs.

use agcore_session::{Run, RunChange, RunStatus};

use super::{Cell, Column, Table};
use crate::sql::row::SqlRow;

/// The runs of sessions.
pub(crate) const RUNS: Table<Run> = Table {
    name: "runs",
    key: &["id"],
    columns: &[
        Column::fixed("id", |run| Cell::text(&run.id)),
        Column::changing("status", |run| Cell::text(run.status.as_str())),
        Column::fixed("created_at", |run| Cell::Integer(run.created_at.as_millis())),
        Column::changing("updated_at", |run| Cell::Integer(run.updated_at.as_millis())),
        Column::fixed_json("input", |run| Cell::json(run.input.as_ref())),
        Column::changing_json("outcome", |run| Cell::json(run.outcome.as_ref())),
    ],
};

/// Reads a row of [`RUNS`].
pub(crate) fn read_run<R: SqlRow>(row: &R) -> Result<Run, R::Error> {
    let mut change = RunChange::new(row.text("id")?, row.named("status", RunStatus::from_name)?);
    change.input = row.optional_json("input")?;
    change.outcome = row.optional_json("outcome")?;
    let mut run = change.create(row.time("created_at")?);
    run.updated_at = row.time("updated_at")?;
    Ok(run)
}
