//! Tool calls in their table.

use std::sync::LazyLock;

use agcore_chat::Timestamp;
use agcore_session::CallChange;

use super::run;
use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::statement,
        rows::writing,
    },
    sql::tables::{CALLS, Dialect, read_call},
};

pub(super) static COLUMNS: LazyLock<String> = LazyLock::new(|| CALLS.columns(Dialect::Postgres));
static UPSERT: LazyLock<String> = LazyLock::new(|| CALLS.upsert(Dialect::Postgres));

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
    let sql = format!(
        "SELECT {} FROM tool_calls WHERE session = $1 AND run = $2 AND id = $3",
        *COLUMNS
    );
    let statement = statement(sql).bind(session).bind(run).bind(id);
    let found = transaction.row(attempt, statement).await?;
    let known = found.as_ref().map(read_call).transpose();
    let call = change.apply(known.map_err(|error| convert(attempt, error))?, now)?;
    let write = writing(&UPSERT, &CALLS, session, &call);
    transaction.execute(attempt, write).await.map(drop)
}
