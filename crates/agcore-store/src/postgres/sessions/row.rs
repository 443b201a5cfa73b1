//! Sessions in their table.

use agcore_chat::Actor;
use agcore_session::Session;
use sqlx::{Error, Row, postgres::PgRow};

use crate::{
    error::StoreError,
    postgres::{
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        rows::count,
        text::lookup,
    },
    sql::tables::read_session,
};

/// The columns of a session. Its end is kept by the journal.
macro_rules! COLUMNS {
    () => {
        "session, tenant, id, \"user\", line, status, pending_tool_call_id, error_id, currency, country, origin_session, \
         origin_message, created_at, updated_at, erased_at, last_message, last_audit, last_event, title, metadata::text AS metadata, \
         (SELECT whole.id FROM sessions AS whole WHERE whole.session = sessions.part_of) AS whole, \
         coalesce((SELECT version FROM documents WHERE session = sessions.session), 0) AS document_version, \
         coalesce((SELECT last_seq FROM journal_streams WHERE name = sessions.stream), 0) AS last_seq"
    };
}

/// Selects the key of a session, for subqueries.
macro_rules! KEY {
    () => {
        "(SELECT session FROM sessions WHERE tenant = $1 AND id = $2)"
    };
}

pub(in crate::postgres) use {COLUMNS, KEY};

/// A session, with what only its table knows.
pub(super) struct Stored {
    /// The key in other tables.
    pub(super) key: i64,
    /// The session. Its end may be out of date.
    pub(super) session: Session,
    /// The numbers that were given last.
    pub(super) last: Numbers,
}

/// Numbers of a session.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) message: u64,
    pub(super) audit: u64,
    pub(super) event: u64,
}

/// Returns a session, which must exist, and makes others who write to it wait for the end of the transaction.
pub(super) async fn lock(transaction: &mut Transaction<'_>, tenant: &str, id: &str) -> Result<Stored, StoreError> {
    let sql = concat!(
        "SELECT ",
        COLUMNS!(),
        " FROM sessions WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE"
    );
    let attempt = "cannot read the session";
    let statement = sqlx::query(sql).bind(lookup(tenant)).bind(lookup(id));
    let row = transaction.row(attempt, statement).await?.ok_or_else(|| missing(id))?;
    stored(&row).map_err(|error| convert(attempt, error))
}

/// Returns the key and the id of the session that contains a new one as a part: the whole, if a part is named. Others who erase
/// it wait for the end of the transaction.
pub(super) async fn lock_whole(
    transaction: &mut Transaction<'_>,
    named: &str,
    owner: &Actor,
) -> Result<(i64, String), StoreError> {
    let sql = "SELECT whole.session, whole.id FROM sessions AS named
               JOIN sessions AS whole ON whole.session = coalesce(named.part_of, named.session)
               WHERE named.tenant = $1 AND named.id = $2 AND named.\"user\" = $3
                   AND named.erased_at IS NULL AND whole.erased_at IS NULL
               FOR SHARE OF whole";
    let attempt = "cannot read the session";
    let statement = sqlx::query(sql).bind(lookup(&owner.tenant)).bind(lookup(named));
    let row = transaction.row(attempt, statement.bind(lookup(&owner.user))).await?;
    let row = row.ok_or_else(|| missing(named))?;
    let read = || Ok((row.try_get(0)?, row.try_get(1)?));
    read().map_err(|error| convert(attempt, error))
}

/// Returns the error of a session that does not exist.
#[cold]
pub(super) fn missing(id: &str) -> StoreError {
    StoreError::not_found(format!("there is no session `{id}`"))
}

fn stored(row: &PgRow) -> Result<Stored, Error> {
    let last = Numbers {
        message: count(row, "last_message")?,
        audit: count(row, "last_audit")?,
        event: count(row, "last_event")?,
    };
    Ok(Stored {
        key: row.try_get("session")?,
        session: read_session(row)?,
        last,
    })
}
