//! Erasing sessions.

use agcore_chat::{Actor, Timestamp};
use agcore_session::stream_of;
use sqlx::{Error, Row};

use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        text::lookup,
    },
    sql::{TYPES_WITH_DATA, erased_metadata},
};

const ATTEMPT: &str = "cannot erase the session";

impl PostgresStore {
    /// Erases a session, if it exists and was not erased already.
    pub(super) async fn erase_one(&self, tenant: &str, id: &str) -> Result<bool, StoreError> {
        let statement = sqlx::query("SELECT session FROM sessions WHERE tenant = $1 AND id = $2 AND erased_at IS NULL");
        let statement = statement.bind(lookup(tenant)).bind(lookup(id));
        match self.statements().row(ATTEMPT, statement).await? {
            Some(row) => self.erase_key(row.try_get(0).map_err(failed)?).await,
            None => Ok(false),
        }
    }

    /// Erases the sessions of a user, each in a transaction of its own. Returns their number without parts.
    pub(super) async fn erase_sessions_of(&self, owner: &Actor) -> Result<u64, StoreError> {
        let sql = "SELECT session FROM sessions
                   WHERE tenant = $1 AND \"user\" = $2 AND part_of IS NULL AND erased_at IS NULL";
        let statement = sqlx::query(sql).bind(lookup(&owner.tenant)).bind(lookup(&owner.user));
        let mut erased = 0;
        for row in self.statements().rows("cannot list the sessions", statement).await? {
            erased += u64::from(self.erase_key(row.try_get(0).map_err(failed)?).await?);
        }
        Ok(erased)
    }

    async fn erase_key(&self, key: i64) -> Result<bool, StoreError> {
        let mut transaction = self.statements().begin(ATTEMPT).await?;
        let erased = erase(&mut transaction, key, self.now()).await;
        transaction.end(ATTEMPT, erased).await
    }
}

/// Erases the session with a key and its parts, if it was not erased already. Others who write to them, or add a part, wait.
pub(super) async fn erase(transaction: &mut Transaction<'_>, key: i64, now: Timestamp) -> Result<bool, StoreError> {
    let erased = erase_one(transaction, key, now).await?;
    let sql = "SELECT session FROM sessions WHERE part_of = $1 AND erased_at IS NULL ORDER BY session";
    for row in transaction.rows(ATTEMPT, sqlx::query(sql).bind(key)).await? {
        erase_one(transaction, row.try_get(0).map_err(failed)?, now).await?;
    }
    Ok(erased)
}

async fn erase_one(transaction: &mut Transaction<'_>, key: i64, now: Timestamp) -> Result<bool, StoreError> {
    // Chosen by the database, so that no client can have taken the id.
    let sql = "SELECT tenant, stream, 'erased-' || replace(gen_random_uuid()::text, '-', '') FROM sessions
               WHERE session = $1 AND erased_at IS NULL FOR NO KEY UPDATE";
    let Some(row) = transaction.row(ATTEMPT, sqlx::query(sql).bind(key)).await? else {
        return Ok(false);
    };
    let read = || Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    let (tenant, stream, id): (String, String, String) = read().map_err(failed)?;
    let statement = sqlx::query("DELETE FROM journal_streams WHERE name = $1").bind(stream);
    transaction.execute(ATTEMPT, statement).await?;
    // With what belongs to them.
    let statement = sqlx::query("DELETE FROM runs WHERE session = $1").bind(key);
    transaction.execute(ATTEMPT, statement).await?;
    let statement = sqlx::query("DELETE FROM documents WHERE session = $1").bind(key);
    transaction.execute(ATTEMPT, statement).await?;
    blank_messages(transaction, key, &id).await?;
    let sql = "UPDATE sessions
               SET id = $2, stream = $3, title = NULL, metadata = '{}', pending_tool_call_id = NULL, error_id = NULL,
                   origin_session = NULL, origin_message = NULL, erased_at = greatest(created_at, $4),
                   status = CASE status WHEN 'running' THEN 'failed' ELSE status END
               WHERE session = $1";
    let statement = sqlx::query(sql)
        .bind(key)
        .bind(&id)
        .bind(stream_of(&tenant, &id))
        .bind(now.as_millis());
    Ok(transaction.execute(ATTEMPT, statement).await? > 0)
}

async fn blank_messages(transaction: &mut Transaction<'_>, key: i64, id: &str) -> Result<(), StoreError> {
    let sql = "UPDATE messages SET id = $2 || '/' || seq, content = '', run = NULL WHERE session = $1";
    let statement = sqlx::query(sql).bind(key).bind(id);
    transaction.execute(ATTEMPT, statement).await?;
    let sql =
        format!("SELECT seq, type, metadata::text FROM messages WHERE session = $1 AND type IN {TYPES_WITH_DATA}");
    let statement = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(key);
    let (mut numbers, mut blank): (Vec<i64>, Vec<String>) = (Vec::new(), Vec::new());
    for row in transaction.rows(ATTEMPT, statement).await? {
        let read = || Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
        let (seq, kind, metadata): (i64, &str, &str) = read().map_err(failed)?;
        numbers.push(seq);
        blank.push(erased_metadata(kind, metadata)?);
    }
    let sql = "UPDATE messages SET metadata = blank.metadata::json
               FROM unnest($2::bigint[], $3::text[]) AS blank (seq, metadata)
               WHERE messages.session = $1 AND messages.seq = blank.seq";
    let statement = sqlx::query(sql).bind(key).bind(numbers).bind(blank);
    transaction.execute(ATTEMPT, statement).await.map(drop)
}

fn failed(error: Error) -> StoreError {
    convert(ATTEMPT, error)
}
