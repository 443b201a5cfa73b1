//! Runs and tool calls in their tables.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::{CallChange, Run, RunChange, RunFilter, RunProgress, RunStatus, StoredCall};
use rusqlite::{Connection, params, params_from_iter};

use super::row::KEY;
use crate::{
    error::StoreError,
    sql::{
        OPEN_RUNS, Value as Parameter,
        row::SqlRow,
        tables::{CALLS, Dialect, RUNS, read_call, read_run},
    },
    sqlite::{
        rows::{limit, select, select_one, write_row},
        webhooks,
    },
};

pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| RUNS.columns(Dialect::Sqlite));
/// The columns of runs in lists, without what may be large.
pub(super) static LISTED: LazyLock<String> =
    LazyLock::new(|| RUNS.columns_without(Dialect::Sqlite, &["input", "outcome"]));
static UPSERT: LazyLock<String> = LazyLock::new(|| RUNS.upsert(Dialect::Sqlite));
static CALL_COLUMNS: LazyLock<String> = LazyLock::new(|| CALLS.columns(Dialect::Sqlite));
static CALL_UPSERT: LazyLock<String> = LazyLock::new(|| CALLS.upsert(Dialect::Sqlite));

/// Writes a new run, or changes a known one.
pub(super) fn change(
    connection: &Connection,
    session: i64,
    change: RunChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let sql = format!("SELECT {} FROM runs WHERE session = ?1 AND id = ?2", *COLUMNS);
    let known = select_one(
        connection,
        "cannot read the run",
        &sql,
        params![session, change.id],
        |row| read_run(row),
    )?;
    let before = known.as_ref().map(|known| known.status);
    let run = change.apply(known, now)?;
    write_row(connection, "cannot write the run", &UPSERT, &RUNS, (session, &run))?;
    match before == Some(run.status) {
        true => Ok(()),
        false => webhooks::notify(connection, (session, &run.id), run.status, now),
    }
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
    let sql = format!(
        "SELECT {} FROM runs WHERE session = {KEY} AND {is_open} AND {of_id} ORDER BY run DESC LIMIT ?3",
        *COLUMNS
    );
    let text = |text: &str| Parameter::Text(text.to_owned());
    let places = [text(tenant), text(session), Parameter::Integer(limit(filter.last))];
    let places = places.into_iter().chain(filter.id.as_deref().map(text));
    let mut runs = select(
        connection,
        "cannot read the runs",
        &sql,
        params_from_iter(places),
        |row| read_run(row),
    )?;
    runs.reverse();
    Ok(runs)
}

/// Returns the progress of a run, named by its tenant, its session and its id.
pub(super) fn progress(connection: &Connection, key: &[String; 3]) -> Result<Option<RunProgress>, StoreError> {
    let sql = "SELECT runs.status AS status, dead_at IS NOT NULL AS is_dead,
                   ifnull((SELECT last_event FROM event_numbers WHERE session = sessions.session), 0) AS last_event
               FROM sessions JOIN runs USING (session) WHERE sessions.tenant = ?1 AND sessions.id = ?2 AND runs.id = ?3";
    select_one(connection, "cannot read the run", sql, key.each_ref(), |row| {
        let status = row.named("status", RunStatus::from_name)?;
        Ok(RunProgress::new(
            status,
            row.number("is_dead")? != 0,
            row.count("last_event")?,
        ))
    })
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
    let sql = format!(
        "SELECT {} FROM tool_calls WHERE session = ?1 AND run = ?2 AND id = ?3",
        *CALL_COLUMNS
    );
    let params = params![session, run, id];
    let known = select_one(connection, "cannot read the tool call", &sql, params, |row| {
        read_call(row)
    })?;
    let call = change.apply(known, now)?;
    write_row(
        connection,
        "cannot write the tool call",
        &CALL_UPSERT,
        &CALLS,
        (session, &call),
    )
}

pub(super) fn list_calls(
    connection: &Connection,
    tenant: &str,
    session: &str,
    run: &str,
) -> Result<Vec<StoredCall>, StoreError> {
    let sql = format!(
        "SELECT {} FROM tool_calls WHERE session = {KEY} AND run = ?3 ORDER BY call",
        *CALL_COLUMNS
    );
    select(
        connection,
        "cannot read the tool calls",
        &sql,
        [tenant, session, run],
        |row| read_call(row),
    )
}
