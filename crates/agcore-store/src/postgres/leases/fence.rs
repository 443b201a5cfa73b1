//! The check of fenced writes.

use agcore_session::Fence;
use sqlx::Row;

use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::{NOW, number, statement},
        text::lookup,
    },
};

/// Returns the condition of a row of `runs` whose epoch is the value at a place: [`LeaseState::permits`] in SQL.
///
/// [`LeaseState::permits`]: agcore_session::LeaseState::permits
pub(super) fn permits(place: &str) -> String {
    format!("epoch = {place} AND status IN ('queued', 'running') AND lease_until > {NOW}")
}

/// Checks that the lease of a write holds, and keeps others from claiming the run before the end of the transaction. Renewals do
/// not wait for it, and it does not wait for them.
pub(in crate::postgres) async fn check(
    transaction: &mut Transaction<'_>,
    tenant: &str,
    fence: Option<&Fence>,
) -> Result<(), StoreError> {
    let Some(fence) = fence else { return Ok(()) };
    let attempt = "cannot check the lease";
    // The condition is of the outer query, so that the time is that after the lock.
    let sql = format!(
        "SELECT {} AS holds FROM (
             SELECT epoch, status, lease_until FROM runs
             WHERE session = (SELECT session FROM sessions WHERE tenant = $1 AND id = $2) AND id = $3 FOR KEY SHARE
         ) AS run",
        permits("$4")
    );
    let statement = statement(sql)
        .bind(lookup(tenant))
        .bind(lookup(&fence.session))
        .bind(lookup(&fence.run))
        .bind(number(fence.epoch));
    let row = transaction.row(attempt, statement).await?;
    let holds = row.map_or(Ok(None), |row| row.try_get::<Option<bool>, _>("holds"));
    match holds.map_err(|error| convert(attempt, error))? {
        Some(true) => Ok(()),
        Some(false) | None => Err(fence.refuse().into()),
    }
}
