//! Runs and tool calls in their tables.

use agcore_chat::Timestamp;
use agcore_session::{CallChange, Run, RunChange, RunFilter, RunStatus, StoredCall};
use rusqlite::{Connection, Row, params, params_from_iter};
use serde_json::Value;

use super::row::KEY;
use crate::{
    error::StoreError,
    sql::{OPEN_RUNS, Value as Parameter},
    sqlite::rows::{Json, execute, limit, named, optional_json, optional_time, select, select_one, time},
};

const RUN: &str = "id, status, created_at, updated_at, input, outcome";
const CALL: &str = "run, id, name, started_at, finished_at, arguments, result";

/// Writes a new run, or changes a known one.
pub(super) fn change(
    connection: &Connection,
    session: i64,
    change: RunChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = format!("SELECT {RUN} FROM runs WHERE session = ?1 AND id = ?2");
    let known = select_one(
        connection,
        "cannot read the run",
        &sql,
        params![session, change.id],
        read,
    )?;
    let run = change.apply(known, now)?;
    let sql = "INSERT INTO runs (session, id, status, created_at, updated_at, input, outcome)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
               ON CONFLICT (session, id) DO UPDATE
               SET status = excluded.status, updated_at = excluded.updated_at, outcome = excluded.outcome";
    let params = params![
        session,
        run.id,
        run.status.as_str(),
        run.created_at.as_millis(),
        run.updated_at.as_millis(),
        run.input.as_ref().map(Value::to_string),
        run.outcome.as_ref().map(Value::to_string),
    ];
    execute(connection, "cannot write the run", sql, params).map(drop)
}

/// Checks that a run exists.
pub(super) fn check(connection: &Connection, session: i64, id: &str) -> Result<(), StoreError> {
    let sql = "SELECT 1 FROM runs WHERE session = ?1 AND id = ?2";
    let found = select_one(connection, "cannot read the run", sql, params![session, id], |_| Ok(()))?;
    found.ok_or_else(|| StoreError::not_found(format!("the session has no run `{id}`")))
}

pub(super) fn list(
    connection: &Connection,
    tenant: &str,
    session: &str,
    filter: &RunFilter,
) -> Result<Vec<Run>, StoreError> {
    let is_open = if filter.is_open { OPEN_RUNS } else { "TRUE" };
    let of_id = if filter.id.is_some() { "id = ?4" } else { "TRUE" };
    let sql =
        format!("SELECT {RUN} FROM runs WHERE session = {KEY} AND {is_open} AND {of_id} ORDER BY run DESC LIMIT ?3");
    let text = |text: &str| Parameter::Text(text.to_owned());
    let places = [text(tenant), text(session), Parameter::Integer(limit(filter.last))];
    let places = places.into_iter().chain(filter.id.as_deref().map(text));
    let mut runs = select(connection, "cannot read the runs", &sql, params_from_iter(places), read)?;
    runs.reverse();
    Ok(runs)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Run> {
    let status = named(row, "status", RunStatus::from_name)?;
    let mut change = RunChange::new(row.get::<_, String>("id")?, status);
    change.input = optional_json(row, "input")?;
    change.outcome = optional_json(row, "outcome")?;
    let mut run = change.create(time(row, "created_at")?);
    run.updated_at = time(row, "updated_at")?;
    Ok(run)
}

/// Writes the beginning or the end of a tool call.
pub(super) fn change_call(
    connection: &Connection,
    session: i64,
    change: CallChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (run, id) = change.ids();
    check(connection, session, run)?;
    let sql = format!("SELECT {CALL} FROM tool_calls WHERE session = ?1 AND run = ?2 AND id = ?3");
    let params = params![session, run, id];
    let known = select_one(connection, "cannot read the tool call", &sql, params, read_call)?;
    let call = change.apply(known, now)?;
    let sql = "INSERT INTO tool_calls (session, run, id, name, started_at, finished_at, arguments, result)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
               ON CONFLICT (session, run, id) DO UPDATE
               SET finished_at = excluded.finished_at, result = excluded.result";
    let params = params![
        session,
        call.run,
        call.id,
        call.name,
        call.started_at.as_millis(),
        call.finished_at.map(Timestamp::as_millis),
        call.arguments.to_string(),
        call.result.as_ref().map(Value::to_string),
    ];
    execute(connection, "cannot write the tool call", sql, params).map(drop)
}

pub(super) fn list_calls(
    connection: &Connection,
    tenant: &str,
    session: &str,
    run: &str,
) -> Result<Vec<StoredCall>, StoreError> {
    let sql = format!("SELECT {CALL} FROM tool_calls WHERE session = {KEY} AND run = ?3 ORDER BY call");
    select(
        connection,
        "cannot read the tool calls",
        &sql,
        [tenant, session, run],
        read_call,
    )
}

fn read_call(row: &Row<'_>) -> rusqlite::Result<StoredCall> {
    let Json(arguments) = row.get("arguments")?;
    let [run, id, name] = [row.get::<_, String>("run")?, row.get("id")?, row.get("name")?];
    let mut call = StoredCall::new(run, id, name, arguments, time(row, "started_at")?);
    call.result = optional_json(row, "result")?;
    call.finished_at = optional_time(row, "finished_at")?;
    Ok(call)
}
