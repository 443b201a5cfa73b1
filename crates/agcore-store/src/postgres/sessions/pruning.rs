//! Removing data that is older than a retention allows.

use agcore_chat::Timestamp;
use agcore_session::{Pruned, Retention};
use sqlx::Row;

use super::erasure::erase;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::statement::FetchRow,
        error::convert,
        query::{bind_all, number, numbered, statement},
    },
    sql::{Conditions, Value},
};

const ATTEMPT: &str = "cannot remove old rows";

const EVENTS: &str = "runs JOIN events ON events.session = runs.session AND events.run = runs.id";

impl PostgresStore {
    /// Removes at most `limit` of each kind.
    pub(super) async fn prune_old(&self, retention: &Retention, limit: u64) -> Result<Pruned, StoreError> {
        let now = self.now();
        let sessions = self.erase_old_sessions(retention, limit, now).await?;
        let conditions = Conditions::old_runs(retention, now);
        let runs = self.change_old(
            &conditions,
            |old| format!("DELETE FROM runs WHERE runs.run IN (SELECT runs.run FROM runs WHERE {old})"),
            limit,
        );
        let runs = runs.await?;
        let conditions = Conditions::runs_with_old_events(retention, now);
        let events = self.change_old(
            &conditions,
            |old| {
                format!(
                    "DELETE FROM events AS deleted
                     WHERE (deleted.session, deleted.seq) IN (SELECT events.session, events.seq FROM {EVENTS} WHERE {old})"
                )
            },
            limit,
        );
        let events = events.await?;
        let conditions = Conditions::old_audit(retention, now);
        let audit = self.change_old(
            &conditions,
            |old| {
                format!(
                    "UPDATE messages AS blank SET content = ''
                     WHERE (blank.session, blank.seq) IN (SELECT messages.session, messages.seq FROM messages WHERE {old})"
                )
            },
            limit,
        );
        Ok(Pruned::new(sessions, runs, events, audit.await?))
    }

    /// Counts what would be removed.
    pub(super) async fn count_old(&self, retention: &Retention) -> Result<Pruned, StoreError> {
        let now = self.now();
        Ok(Pruned::new(
            self.count(&Conditions::old_sessions(retention, now), "sessions")
                .await?,
            self.count(&Conditions::old_runs(retention, now), "runs").await?,
            self.count(&Conditions::runs_with_old_events(retention, now), EVENTS)
                .await?,
            self.count(&Conditions::old_audit(retention, now), "messages").await?,
        ))
    }

    async fn erase_old_sessions(&self, retention: &Retention, limit: u64, now: Timestamp) -> Result<u64, StoreError> {
        let conditions = Conditions::old_sessions(retention, now);
        if conditions.is_never() {
            return Ok(0);
        }
        let sql = format!(
            "SELECT session FROM sessions WHERE {} LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let finding = bind_all(statement(sql), &conditions).bind(number(limit));
        let mut erased = 0;
        for row in self.statements().rows(ATTEMPT, finding).await? {
            let key = row.try_get(0).map_err(|error| convert(ATTEMPT, error))?;
            erased += u64::from(self.erase_if_old(key, &conditions, now).await?);
        }
        Ok(erased)
    }

    async fn erase_if_old(&self, key: i64, conditions: &Conditions, now: Timestamp) -> Result<bool, StoreError> {
        let mut transaction = self.statements().begin(ATTEMPT).await?;
        let erase = async {
            // Others who write to the session or its parts wait from here on, and what they have written before is visible to the
            // next statement.
            let lock = "SELECT 1 FROM sessions WHERE session = $1 OR part_of = $1 ORDER BY session FOR NO KEY UPDATE";
            transaction.rows(ATTEMPT, sqlx::query(lock).bind(key)).await?;
            let is_old = Conditions::new("sessions.session = ?", [Value::Integer(key)]).and(conditions.clone());
            let sql = format!("SELECT 1 FROM sessions WHERE {}", numbered(is_old.sql(), 1));
            match transaction.row(ATTEMPT, bind_all(statement(sql), &is_old)).await? {
                Some(_) => erase(&mut transaction, key, now).await,
                None => Ok(false),
            }
        };
        let erased = erase.await;
        transaction.end(ATTEMPT, erased).await
    }

    /// Runs a statement that changes what conditions select, at most `limit` rows.
    async fn change_old(
        &self,
        conditions: &Conditions,
        sql: impl FnOnce(String) -> String,
        limit: u64,
    ) -> Result<u64, StoreError> {
        if conditions.is_never() {
            return Ok(0);
        }
        let old = format!(
            "{} LIMIT ${}",
            numbered(conditions.sql(), 1),
            conditions.values().len() + 1
        );
        let changing = bind_all(statement(sql(old)), conditions).bind(number(limit));
        self.statements().execute(ATTEMPT, changing).await
    }

    async fn count(&self, conditions: &Conditions, from: &str) -> Result<u64, StoreError> {
        if conditions.is_never() {
            return Ok(0);
        }
        let sql = format!("SELECT count(*) FROM {from} WHERE {}", numbered(conditions.sql(), 1));
        let counted = self
            .statements()
            .row(ATTEMPT, bind_all(statement(sql), conditions))
            .await?;
        let count: Option<i64> = counted
            .map(|row| row.try_get(0))
            .transpose()
            .map_err(|error| convert(ATTEMPT, error))?;
        Ok(count.unwrap_or_default().unsigned_abs())
    }
}
