//! Sessions in their table.

use agcore_chat::Actor;
use agcore_session::Session;
use rusqlite::{Connection, Row};

use crate::{
    error::StoreError,
    sql::tables::read_session,
    sqlite::rows::{count, select_one},
};

/// The columns of a session. Its end is kept by the journal.
pub(in crate::sqlite) const COLUMNS: &str = "session, tenant, id, user, line, status, pending_tool_call_id, error_id, currency, country, \
     origin_session, origin_message, created_at, updated_at, erased_at, last_message, last_audit, title, metadata, \
     ifnull((SELECT last_event FROM event_numbers WHERE session = sessions.session), 0) AS last_event, \
     (SELECT whole.id FROM sessions AS whole WHERE whole.session = sessions.part_of) AS whole, \
     ifnull((SELECT version FROM documents WHERE session = sessions.session), 0) AS document_version, \
     ifnull((SELECT last_seq FROM journal_streams WHERE name = sessions.stream), 0) AS last_seq";

/// Selects the key of a session, for subqueries.
pub(in crate::sqlite) const KEY: &str = "(SELECT session FROM sessions WHERE tenant = ?1 AND id = ?2)";

/// A session, with what only its table knows.
pub(super) struct Stored {
    /// The key in other tables.
    pub(super) key: i64,
    pub(super) session: Session,
    /// The numbers that were given last.
    pub(super) last: Numbers,
}

/// Numbers of a session.
#[derive(Clone, Copy)]
pub(super) struct Numbers {
    pub(super) message: u64,
    pub(super) audit: u64,
    pub(super) event: u64,
}

/// Returns a session, which must exist.
pub(super) fn find(connection: &Connection, tenant: &str, id: &str) -> Result<Stored, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE tenant = ?1 AND id = ?2");
    let found = select_one(connection, "cannot read the session", &sql, [tenant, id], stored)?;
    found.ok_or_else(|| missing(id))
}

/// Returns the key of a session, which must exist.
pub(super) fn find_key(connection: &Connection, tenant: &str, id: &str) -> Result<i64, StoreError> {
    let sql = "SELECT session FROM sessions WHERE tenant = ?1 AND id = ?2";
    let found = select_one(connection, "cannot read the session", sql, [tenant, id], |row| {
        row.get(0)
    })?;
    found.ok_or_else(|| missing(id))
}

/// Returns the key and the id of the session that contains a new one as a part: the whole, if a part is named.
pub(super) fn find_whole(connection: &Connection, named: &str, owner: &Actor) -> Result<(i64, String), StoreError> {
    let sql = "SELECT whole.session, whole.id FROM sessions AS named
               JOIN sessions AS whole ON whole.session = coalesce(named.part_of, named.session)
               WHERE named.tenant = ?1 AND named.id = ?2 AND named.user = ?3
                   AND named.erased_at IS NULL AND whole.erased_at IS NULL";
    let params = [&*owner.tenant, named, &*owner.user];
    let found = select_one(connection, "cannot read the session", sql, params, |row| {
        Ok((row.get(0)?, row.get(1)?))
    })?;
    found.ok_or_else(|| missing(named))
}

/// Returns the error of a session that does not exist.
pub(super) fn missing(id: &str) -> StoreError {
    StoreError::not_found(format!("there is no session `{id}`"))
}

pub(super) fn stored(row: &Row<'_>) -> rusqlite::Result<Stored> {
    let last = Numbers {
        message: count(row, "last_message")?,
        audit: count(row, "last_audit")?,
        event: count(row, "last_event")?,
    };
    Ok(Stored {
        key: row.get("session")?,
        session: read_session(row)?,
        last,
    })
}
