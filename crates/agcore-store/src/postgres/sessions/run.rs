//! Runs in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::{RunChange, RunFilter};

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
        rows::writing,
        text::lookup,
    },
    sql::{
        OPEN_RUNS,
        tables::{Dialect, RUNS, read_run},
    },
};

static COLUMNS: LazyLock<String> = LazyLock::new(|| RUNS.columns(Dialect::Postgres));
static UPSERT: LazyLock<String> = LazyLock::new(|| RUNS.upsert(Dialect::Postgres));

/// Writes a new run, or changes a known one.
pub(super) async fn change(
    transaction: &mut Transaction<'_>,
    session: i64,
    change: RunChange,
    now: Timestamp,
) -> Result<(), StoreError> {
    let attempt = "cannot write the run";
    let sql = format!("SELECT {} FROM runs WHERE session = $1 AND id = $2", *COLUMNS);
    let found = transaction
        .row(attempt, statement(sql).bind(session).bind(&change.id))
        .await?;
    let known = found.as_ref().map(read_run).transpose();
    let run = change.apply(known.map_err(|error| convert(attempt, error))?, now)?;
    let write = writing(&UPSERT, &RUNS, session, &run);
    transaction.execute(attempt, write).await.map(drop)
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
    let from = concat!(" FROM runs WHERE session = ", KEY!());
    let selecting = statement(format!(
        "SELECT {}{from} AND {is_open} AND {of_id} ORDER BY run DESC LIMIT $3",
        *COLUMNS
    ));
    let selecting = selecting
        .bind(lookup(tenant))
        .bind(lookup(session))
        .bind(filter.last.map(number));
    match &filter.id {
        Some(id) => selecting.bind(lookup(id)),
        None => selecting,
    }
}
