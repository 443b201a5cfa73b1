//! Tool calls in their table.

use agcore_chat::Timestamp;
use agcore_session::{CallChange, StoredCall};
use serde_json::Value;
use sqlx::{Error, Row, postgres::PgRow};

use super::run;
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        rows::{json, optional_json, optional_time, time},
    },
};

/// The columns that [`read`] reads.
macro_rules! CALL {
    () => {
        "run, id, name, started_at, finished_at, arguments::text AS arguments, result::text AS result"
    };
}

pub(super) use CALL;

/// Writes the beginning or the end of a tool call.
pub(super) async fn change(
    transaction: &mut Transaction<'_>,
    session: i64,
    change: CallChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let attempt = "cannot write the tool call";
    let (run, id) = change.ids();
    run::check(transaction, session, run).await?;
    let sql = concat!(
        "SELECT ",
        CALL!(),
        " FROM tool_calls WHERE session = $1 AND run = $2 AND id = $3"
    );
    let statement = sqlx::query(sql).bind(session).bind(run).bind(id);
    let found = transaction.row(attempt, statement).await?;
    let known = found.as_ref().map(read).transpose();
    let call = change.apply(known.map_err(|error| convert(attempt, error))?, now)?;
    let sql = "INSERT INTO tool_calls (session, run, id, name, started_at, finished_at, arguments, result)
               VALUES ($1, $2, $3, $4, $5, $6, $7::json, $8::json)
               ON CONFLICT (session, run, id) DO UPDATE
               SET finished_at = excluded.finished_at, result = excluded.result";
    let statement = sqlx::query(sql)
        .bind(session)
        .bind(call.run)
        .bind(call.id)
        .bind(call.name)
        .bind(call.started_at.as_millis())
        .bind(call.finished_at.map(Timestamp::as_millis))
        .bind(call.arguments.to_string())
        .bind(call.result.as_ref().map(Value::to_string));
    transaction.execute(attempt, statement).await.map(drop)
}

pub(super) fn read(row: &PgRow) -> Result<StoredCall, Error> {
    let [run, id, name]: [String; 3] = [row.try_get("run")?, row.try_get("id")?, row.try_get("name")?];
    let mut call = StoredCall::new(run, id, name, json(row, "arguments")?, time(row, "started_at")?);
    call.result = optional_json(row, "result")?;
    call.finished_at = optional_time(row, "finished_at")?;
    Ok(call)
}
