//! The table of tool calls.

use agcore_chat::Timestamp;
use agcore_session::StoredCall;

use super::{Cell, Column, Table};
use crate::sql::row::SqlRow;

/// The tool calls of runs.
pub(crate) const CALLS: Table<StoredCall> = Table {
    name: "tool_calls",
    key: &["run", "id"],
    columns: &[
        Column::fixed("run", |call| Cell::text(&call.run)),
        Column::fixed("id", |call| Cell::text(&call.id)),
        Column::fixed("name", |call| Cell::text(&call.name)),
        Column::fixed("started_at", |call| Cell::Integer(call.started_at.as_millis())),
        Column::changing("finished_at", |call| {
            Cell::OptionalInteger(call.finished_at.map(Timestamp::as_millis))
        }),
        Column::fixed_json("arguments", |call| Cell::json(Some(&call.arguments))),
        Column::changing_json("result", |call| Cell::json(call.result.as_ref())),
    ],
};

/// Reads a row of [`CALLS`].
pub(crate) fn read_call<R: SqlRow>(row: &R) -> Result<StoredCall, R::Error> {
    let [run, id, name] = [row.text("run")?, row.text("id")?, row.text("name")?];
    let mut call = StoredCall::new(run, id, name, row.json("arguments")?, row.time("started_at")?);
    call.result = row.optional_json("result")?;
    call.finished_at = row.optional_time("finished_at")?;
    Ok(call)
}
