//! Runs in their table.

use agcore_chat::Timestamp;
use agcore_session::{Run, RunChange, RunFilter, RunStatus};
use serde_json::Value;
use sqlx::{Error, Row, postgres::PgRow};

use super::row::KEY;
use crate::{
    error::StoreError,
    postgres::{
        connection::{
            statement::{FetchRow, Statement},
            transaction::Transaction,
        },
        error::convert,
        query::{number, statement},
        rows::{named, optional_json, time},
        text::lookup,
    },
    sql::OPEN_RUNS,
};

/// The columns that [`read`] reads.
macro_rules! RUN {
    () => {
        "id, status, created_at, updated_at, input::text AS input, outcome::text AS outcome"
    };
}

/// Writes a new run, or changes a known one.
pub(super) async fn change(
    transaction: &mut Transaction<'_>,
    session: i64,
    change: RunChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let attempt = "cannot write the run";
    let sql = concat!("SELECT ", RUN!(), " FROM runs WHERE session = $1 AND id = $2");
    let found = transaction
        .row(attempt, sqlx::query(sql).bind(session).bind(&change.id))
        .await?;
    let known = found.as_ref().map(read).transpose();
    let run = change.apply(known.map_err(|error| convert(attempt, error))?, now)?;
    let sql = "INSERT INTO runs (session, id, status, created_at, updated_at, input, outcome)
               VALUES ($1, $2, $3, $4, $5, $6::json, $7::json)
               ON CONFLICT (session, id) DO UPDATE
               SET status = excluded.status, updated_at = excluded.updated_at, outcome = excluded.outcome";
    let statement = sqlx::query(sql)
        .bind(session)
        .bind(run.id)
        .bind(run.status.as_str())
        .bind(run.created_at.as_millis())
        .bind(run.updated_at.as_millis())
        .bind(run.input.as_ref().map(Value::to_string))
        .bind(run.outcome.as_ref().map(Value::to_string));
    transaction.execute(attempt, statement).await.map(drop)
}

/// Checks that a run exists.
pub(super) async fn check(transaction: &mut Transaction<'_>, session: i64, id: &str) -> Result<(), StoreError> {
    let statement = sqlx::query("SELECT 1 FROM runs WHERE session = $1 AND id = $2");
    let found = transaction
        .row("cannot read the run", statement.bind(session).bind(id))
        .await?;
    found
        .map(drop)
        .ok_or_else(|| StoreError::not_found(format!("the session has no run `{id}`")))
}

/// Returns the statement that selects the runs of a filter, the newest first.
pub(super) fn selecting<'q>(tenant: &'q str, session: &'q str, filter: &'q RunFilter) -> Statement<'q> {
    let is_open = if filter.is_open { OPEN_RUNS } else { "TRUE" };
    let of_id = if filter.id.is_some() { "id = $4" } else { "TRUE" };
    let from = concat!("SELECT ", RUN!(), " FROM runs WHERE session = ", KEY!());
    let selecting = statement(format!("{from} AND {is_open} AND {of_id} ORDER BY run DESC LIMIT $3"));
    let selecting = selecting
        .bind(lookup(tenant))
        .bind(lookup(session))
        .bind(filter.last.map(number));
    match &filter.id {
        Some(id) => selecting.bind(lookup(id)),
        None => selecting,
    }
}

pub(super) fn read(row: &PgRow) -> Result<Run, Error> {
    let status = named(row, "status", RunStatus::from_name)?;
    let mut change = RunChange::new(row.try_get::<String, _>("id")?, status);
    change.input = optional_json(row, "input")?;
    change.outcome = optional_json(row, "outcome")?;
    let mut run = change.create(time(row, "created_at")?);
    run.updated_at = time(row, "updated_at")?;
    Ok(run)
}
