//! Runs in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::{RunChange, RunFilter, RunKey, RunProgress, RunStatus};
use sqlx::{Row, postgres::PgRow};

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
        webhooks,
    },
    sql::{
        OPEN_RUNS,
        row::SqlRow,
        tables::{Dialect, RUNS, read_run},
    },
};

pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| RUNS.columns(Dialect::Postgres));
/// The columns of runs in lists, without what may be large.
pub(super) static LISTED: LazyLock<String> =
    LazyLock::new(|| RUNS.columns_without(Dialect::Postgres, &["input", "outcome"]));
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
    let known = known.map_err(|error| convert(attempt, error))?;
    let before = known.as_ref().map(|known| known.status);
    let run = change.apply(known, now)?;
    let write = writing(&UPSERT, &RUNS, session, &run);
    transaction.execute(attempt, write).await?;
    match before == Some(run.status) {
        true => Ok(()),
        false => webhooks::notify(transaction, (session, &run.id), run.status).await,
    }
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

/// Returns the statement that selects the progress of runs, each with its place in the list from 1.
pub(super) fn selecting_progress<'q>(runs: &[RunKey<'q>]) -> Statement<'q> {
    let sql = "SELECT asked.place, runs.status, runs.dead_at IS NOT NULL AS is_dead, sessions.last_event
               FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS asked (tenant, session_id, id, place)
                   JOIN sessions ON sessions.tenant = asked.tenant AND sessions.id = asked.session_id
                   JOIN runs ON runs.session = sessions.session AND runs.id = asked.id";
    let texts = |text: fn(&RunKey<'q>) -> &'q str| runs.iter().map(|run| lookup(text(run))).collect::<Vec<_>>();
    sqlx::query(sql)
        .bind(texts(|run| run.tenant))
        .bind(texts(|run| run.session))
        .bind(texts(|run| run.run))
}

/// Reads the progress of a run, with its place in the list from 0.
pub(super) fn read_progress(row: &PgRow) -> Result<(usize, RunProgress), sqlx::Error> {
    let place = usize::try_from(row.count("place")?).unwrap_or(usize::MAX);
    let status = row.named("status", RunStatus::from_name)?;
    let progress = RunProgress::new(status, row.try_get("is_dead")?, row.count("last_event")?);
    Ok((place.saturating_sub(1), progress))
}
