//! Removing data that is older than a retention allows.

use agcore_chat::Timestamp;
use agcore_session::{Pruned, Retention};
use rusqlite::{Connection, params, params_from_iter};

use super::erasure::erase_key;
use crate::{
    error::StoreError,
    sql::{Conditions, Value},
    sqlite::{
        SqliteStore,
        rows::{execute, limit as limited, select, select_one},
    },
};

const ATTEMPT: &str = "cannot remove old rows";

const EVENTS: &str = "runs JOIN events ON events.session = runs.session AND events.run = runs.id";

impl SqliteStore {
    /// Removes at most `limit` of each kind. Old rows are found by a reader, so that the writer is busy for a short time only.
    pub(super) async fn prune_old(&self, retention: &Retention, limit: u64) -> Result<Pruned, StoreError> {
        let now = self.now();
        let sessions = self.erase_old_sessions(retention, limit, now).await?;
        let runs = self.delete_old_runs(retention, limit, now).await?;
        let events = self.delete_old_events(retention, limit, now).await?;
        let audit = self.blank_old_audit(retention, limit, now).await?;
        Ok(Pruned::new(sessions, runs, events, audit))
    }

    /// Counts what would be removed.
    pub(super) async fn count_old(&self, retention: &Retention) -> Result<Pruned, StoreError> {
        let (retention, now) = (*retention, self.now());
        self.read(move |connection| {
            let count = |from: &str, conditions: &Conditions| count(connection, from, conditions);
            Ok(Pruned::new(
                count("sessions", &Conditions::old_sessions(&retention, now))?,
                count("runs", &Conditions::old_runs(&retention, now))?,
                count(EVENTS, &Conditions::runs_with_old_events(&retention, now))?,
                count("messages", &Conditions::old_audit(&retention, now))?,
            ))
        })
        .await
    }

    async fn erase_old_sessions(&self, retention: &Retention, limit: u64, now: Timestamp) -> Result<u64, StoreError> {
        let conditions = Conditions::old_sessions(retention, now);
        let mut erased = 0;
        for key in self.find_old("session", "sessions", &conditions, limit).await? {
            let conditions = conditions.clone();
            let erase = move |connection: &Connection| {
                // It may have changed since it was found.
                let is_old = Conditions::new("sessions.session = ?", [Value::Integer(key)]).and(conditions);
                match count(connection, "sessions", &is_old)? {
                    0 => Ok(false),
                    _ => erase_key(connection, key, now),
                }
            };
            erased += u64::from(self.write::<_, StoreError>(erase).await?);
        }
        Ok(erased)
    }

    async fn delete_old_runs(&self, retention: &Retention, limit: u64, now: Timestamp) -> Result<u64, StoreError> {
        let conditions = Conditions::old_runs(retention, now);
        let mut deleted = 0;
        for key in self.find_old("runs.run", "runs", &conditions, limit).await? {
            let conditions = conditions.clone();
            let delete = move |connection: &Connection| {
                let is_old = Conditions::new("runs.run = ?", [Value::Integer(key)]).and(conditions);
                let sql = format!("DELETE FROM runs WHERE {}", is_old.sql());
                execute(connection, ATTEMPT, &sql, params_from_iter(is_old.values()))
            };
            deleted += self.write::<_, StoreError>(delete).await?;
        }
        Ok(deleted)
    }

    async fn delete_old_events(&self, retention: &Retention, limit: u64, now: Timestamp) -> Result<u64, StoreError> {
        let conditions = Conditions::runs_with_old_events(retention, now);
        let rows = self.find_old("events.rowid", EVENTS, &conditions, limit).await?;
        self.change_rows("DELETE FROM events WHERE rowid = ?1", rows).await
    }

    async fn blank_old_audit(&self, retention: &Retention, limit: u64, now: Timestamp) -> Result<u64, StoreError> {
        let conditions = Conditions::old_audit(retention, now);
        let rows = self.find_old("messages.rowid", "messages", &conditions, limit).await?;
        self.change_rows(
            "UPDATE messages SET content = '' WHERE rowid = ?1 AND seq < 0 AND content <> ''",
            rows,
        )
        .await
    }

    /// Returns the keys of rows.
    async fn find_old(
        &self,
        key: &'static str,
        from: &'static str,
        conditions: &Conditions,
        limit: u64,
    ) -> Result<Vec<i64>, StoreError> {
        if conditions.is_never() {
            return Ok(Vec::new());
        }
        let conditions = conditions.clone();
        self.read(move |connection| {
            let sql = format!("SELECT {key} FROM {from} WHERE {} LIMIT ?", conditions.sql());
            let limit = Value::Integer(limited(Some(limit)));
            let params = params_from_iter(conditions.values().iter().chain([&limit]));
            select(connection, ATTEMPT, &sql, params, |row| row.get(0))
        })
        .await
    }

    /// Runs a statement for each of these rows, in one transaction. Returns how many it has changed.
    async fn change_rows(&self, sql: &'static str, rows: Vec<i64>) -> Result<u64, StoreError> {
        if rows.is_empty() {
            return Ok(0);
        }
        self.write(move |connection| {
            let mut changed = 0;
            for row in rows {
                changed += execute(connection, ATTEMPT, sql, params![row])?;
            }
            Ok(changed)
        })
        .await
    }
}

fn count(connection: &Connection, from: &str, conditions: &Conditions) -> Result<u64, StoreError> {
    if conditions.is_never() {
        return Ok(0);
    }
    let sql = format!("SELECT count(*) FROM {from} WHERE {}", conditions.sql());
    let params = params_from_iter(conditions.values());
    let count = select_one(connection, ATTEMPT, &sql, params, |row| row.get::<_, i64>(0))?;
    Ok(count.unwrap_or_default().unsigned_abs())
}
