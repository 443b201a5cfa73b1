//! Erasing sessions.

use agcore_chat::{Actor, Timestamp};
use agcore_session::stream_of;
use rusqlite::{Connection, params};

use crate::{
    error::StoreError,
    sql::{TYPES_WITH_DATA, erased_metadata},
    sqlite::{
        SqliteStore,
        rows::{execute, select, select_one},
    },
};

const ATTEMPT: &str = "cannot erase the session";

/// Erases a session, if it exists and was not erased already.
pub(super) fn erase(connection: &Connection, tenant: &str, id: &str, now: Timestamp) -> Result<bool, StoreError> {
    let sql = "SELECT session FROM sessions WHERE tenant = ?1 AND id = ?2";
    let key = select_one(connection, ATTEMPT, sql, [tenant, id], |row| row.get(0))?;
    key.map_or(Ok(false), |key| erase_key(connection, key, now))
}

/// Erases the session with a key and its parts, if it was not erased already.
pub(super) fn erase_key(connection: &Connection, key: i64, now: Timestamp) -> Result<bool, StoreError> {
    let erased = erase_one(connection, key, now)?;
    let sql = "SELECT session FROM sessions WHERE part_of = ?1 AND erased_at IS NULL";
    let parts: Vec<i64> = select(connection, ATTEMPT, sql, [key], |row| row.get(0))?;
    for part in parts {
        erase_one(connection, part, now)?;
    }
    Ok(erased)
}

fn erase_one(connection: &Connection, key: i64, now: Timestamp) -> Result<bool, StoreError> {
    // Chosen by the database, so that no client can have taken it.
    let sql = "SELECT tenant, stream, 'erased-' || lower(hex(randomblob(16))) FROM sessions
               WHERE session = ?1 AND erased_at IS NULL";
    let found = select_one(connection, ATTEMPT, sql, [key], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
        ))
    })?;
    let Some((tenant, stream, id)) = found else {
        return Ok(false);
    };
    execute(
        connection,
        ATTEMPT,
        "DELETE FROM journal_streams WHERE name = ?1",
        [stream],
    )?;
    // With what belongs to them.
    execute(connection, ATTEMPT, "DELETE FROM runs WHERE session = ?1", [key])?;
    execute(connection, ATTEMPT, "DELETE FROM documents WHERE session = ?1", [key])?;
    blank_messages(connection, key, &id)?;
    let sql = "UPDATE sessions
               SET id = ?2, stream = ?3, title = NULL, metadata = '{}', pending_tool_call_id = NULL, error_id = NULL,
                   origin_session = NULL, origin_message = NULL, erased_at = max(created_at, ?4),
                   status = CASE status WHEN 'running' THEN 'failed' ELSE status END
               WHERE session = ?1";
    let params = params![key, id, stream_of(&tenant, &id), now.as_millis()];
    execute(connection, ATTEMPT, sql, params).map(|erased| erased > 0)
}

fn blank_messages(connection: &Connection, key: i64, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE messages SET id = ?2 || '/' || seq, content = '', run = NULL WHERE session = ?1";
    execute(connection, ATTEMPT, sql, params![key, id])?;
    let sql = format!("SELECT seq, type, metadata FROM messages WHERE session = ?1 AND type IN {TYPES_WITH_DATA}");
    let found = select(connection, ATTEMPT, &sql, [key], |row| {
        Ok((
            row.get::<_, i64>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
        ))
    })?;
    for (seq, kind, metadata) in found {
        let sql = "UPDATE messages SET metadata = ?3 WHERE session = ?1 AND seq = ?2";
        let params = params![key, seq, erased_metadata(&kind, &metadata)?];
        execute(connection, ATTEMPT, sql, params)?;
    }
    Ok(())
}

impl SqliteStore {
    /// Erases the sessions of a user, each in a transaction of its own. Returns their number without parts.
    pub(super) async fn erase_sessions_of(&self, owner: &Actor) -> Result<u64, StoreError> {
        let owner = [owner.tenant.to_string(), owner.user.to_string()];
        let find = move |connection: &Connection| {
            let sql = "SELECT session FROM sessions WHERE tenant = ?1 AND user = ?2 AND part_of IS NULL AND erased_at IS NULL";
            select(connection, "cannot list the sessions", sql, owner, |row| row.get(0))
        };
        let keys: Vec<i64> = self.read::<_, StoreError>(find).await?;
        self.erase_keys(keys).await
    }

    /// Erases the sessions with these keys, each in a transaction of its own. Returns their number.
    async fn erase_keys(&self, keys: Vec<i64>) -> Result<u64, StoreError> {
        let mut erased = 0;
        for key in keys {
            let now = self.now();
            erased += u64::from(
                self.write::<_, StoreError>(move |connection| erase_key(connection, key, now))
                    .await?,
            );
        }
        Ok(erased)
    }
}
