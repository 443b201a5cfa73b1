//! Counting runs before another one begins.

use agcore_session::{Actor, RunLimits};

use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::statement,
        text::lookup,
    },
    sql::leases::{count_runs, read_counts},
};

/// Has other transactions that begin runs wait for the end of this one. Call it before anything is locked.
pub(in crate::postgres) async fn lock(transaction: &mut Transaction<'_>) -> Result<(), StoreError> {
    let sql = "SELECT pg_advisory_xact_lock(hashtextextended('agcore limits of runs ' || current_schema(), 0))";
    let locked = transaction
        .rows("cannot lock the limits of runs", sqlx::query(sql))
        .await;
    locked.map(drop)
}

/// Checks that one more run of an actor is allowed, in a transaction that has the [`lock`].
pub(in crate::postgres) async fn check(
    transaction: &mut Transaction<'_>,
    owner: &Actor,
    limits: Option<RunLimits>,
) -> Result<(), StoreError> {
    let Some(limits) = limits else { return Ok(()) };
    let attempt = "cannot count the runs";
    let statement = statement(count_runs(["$1", "$2", "$3"]))
        .bind(lookup(&owner.tenant))
        .bind(lookup(&owner.user))
        .bind(owner.line.as_deref().and_then(lookup));
    let row = transaction.row(attempt, statement).await?;
    let counts = row.as_ref().map(read_counts).transpose();
    let counts = counts.map_err(|error| convert(attempt, error))?;
    Ok(limits.check(counts.unwrap_or_default())?)
}
