//! Approvals in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::{Approval, ApprovalChange};

use super::run;
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::statement,
        rows::writing,
    },
    sql::tables::{APPROVALS, Dialect, read_approval},
};

pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| APPROVALS.columns(Dialect::Postgres));
static UPSERT: LazyLock<String> = LazyLock::new(|| APPROVALS.upsert(Dialect::Postgres));

/// Writes a question, an answer or a withdrawal. Returns the approval, and whether it was changed.
pub(super) async fn change(
    transaction: &mut Transaction<'_>,
    (key, session): (i64, &str),
    change: ApprovalChange,
    now: Timestamp,
) -> Result<(Approval, bool), StoreError> {
    if let ApprovalChange::Ask(new) = &change {
        run::check(transaction, key, &new.run).await?;
    }
    let attempt = "cannot write the approval";
    let sql = format!("SELECT {} FROM approvals WHERE session = $1 AND id = $2", *COLUMNS);
    let found = transaction
        .row(attempt, statement(sql).bind(key).bind(change.id()))
        .await?;
    let known = found.map(|row| read_approval(&row, session)).transpose();
    let known = known.map_err(|error| convert(attempt, error))?;
    let approval = change.apply(session, known.clone(), now)?;
    if known.as_ref() == Some(&approval) {
        return Ok((approval, false));
    }
    let write = writing(&UPSERT, &APPROVALS, key, &approval);
    transaction.execute(attempt, write).await?;
    Ok((approval, true))
}
