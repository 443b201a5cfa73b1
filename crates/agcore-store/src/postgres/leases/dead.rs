//! Dead letters.

use agcore_session::{DeadLetter, RunStatus};
use sqlx::{Row, postgres::PgRow};

use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::{statement::FetchRow, transaction::Transaction},
        error::convert,
        query::{NOW, statement},
        text::lookup,
        webhooks,
    },
    sql::row::SqlRow,
};

const ATTEMPT: &str = "cannot end the run";

/// A run that was claimed too often.
pub(super) struct Exhausted {
    pub(super) tenant: String,
    pub(super) session: String,
    pub(super) run: String,
}

impl PostgresStore {
    /// Makes a run a dead letter. Its session fails, if it is running. Returns `None` if another worker was faster.
    ///
    /// It is not a part of the claim, because others lock the session before its runs.
    pub(super) async fn bury(
        &self,
        exhausted: &Exhausted,
        max_attempts: u32,
    ) -> Result<Option<DeadLetter>, StoreError> {
        let mut transaction = self.statements().begin(ATTEMPT).await?;
        let now = self.now().as_millis();
        let buried = bury(&mut transaction, exhausted, (max_attempts, now)).await;
        transaction.end(ATTEMPT, buried).await
    }

    /// Queues a dead letter again. Returns whether it is one, and `None` if there is no such run.
    pub(super) async fn queue_again(&self, [tenant, session, run]: [&str; 3]) -> Result<Option<bool>, StoreError> {
        let attempt = "cannot queue the run again";
        let sql = format!(
            "WITH found AS (
                 SELECT run, dead_at FROM runs
                 WHERE session = (SELECT session FROM sessions WHERE tenant = $1 AND id = $2) AND id = $3
             ), queued AS (
                 UPDATE runs SET status = 'queued', dead_at = NULL, queued_at = {NOW}, not_before = NULL, attempts = 0,
                     holder = NULL, worker = NULL, lease_until = NULL, cancel_requested_at = NULL,
                     updated_at = greatest(updated_at, $4)
                 WHERE run = (SELECT run FROM found) AND dead_at IS NOT NULL RETURNING run
             )
             SELECT EXISTS (SELECT 1 FROM queued) AS is_queued FROM found"
        );
        let statement = statement(sql)
            .bind(lookup(tenant))
            .bind(lookup(session))
            .bind(lookup(run))
            .bind(self.now().as_millis());
        let row = self.statements().row(attempt, statement).await?;
        let queued = row.map(|row| row.try_get("is_queued")).transpose();
        queued.map_err(|error| convert(attempt, error))
    }
}

async fn bury(
    transaction: &mut Transaction<'_>,
    exhausted: &Exhausted,
    (max_attempts, now): (u32, i64),
) -> Result<Option<DeadLetter>, StoreError> {
    let sql = "SELECT session FROM sessions WHERE tenant = $1 AND id = $2 FOR NO KEY UPDATE";
    let locking = sqlx::query(sql).bind(&exhausted.tenant).bind(&exhausted.session);
    let Some(session) = transaction.row(ATTEMPT, locking).await? else {
        return Ok(None);
    };
    let session: i64 = session.try_get(0).map_err(|error| convert(ATTEMPT, error))?;
    // A run that is written to is skipped: the one who writes was permitted to before the lease has expired.
    let sql = format!(
        "UPDATE runs SET status = 'failed', dead_at = {NOW}, updated_at = greatest(updated_at, $4)
         WHERE run = (
             SELECT run FROM runs
             WHERE session = $1 AND id = $2 AND attempts >= $3 AND status IN ('queued', 'running')
                 AND (holder IS NULL OR lease_until <= {NOW})
             FOR UPDATE SKIP LOCKED
         )
         RETURNING attempts, worker, dead_at"
    );
    let ending = statement(sql)
        .bind(session)
        .bind(&exhausted.run)
        .bind(i64::from(max_attempts))
        .bind(now);
    let Some(ended) = transaction.row(ATTEMPT, ending).await? else {
        return Ok(None);
    };
    let sql = "UPDATE sessions SET status = 'failed', updated_at = greatest(updated_at, $2)
               WHERE session = $1 AND status = 'running'";
    transaction
        .execute(ATTEMPT, sqlx::query(sql).bind(session).bind(now))
        .await?;
    webhooks::notify(transaction, (session, &exhausted.run), RunStatus::Failed).await?;
    let key = (&*exhausted.tenant, &*exhausted.session, &*exhausted.run);
    letter(key, &ended).map(Some).map_err(|error| convert(ATTEMPT, error))
}

/// Reads a dead letter.
pub(super) fn read(row: &PgRow) -> Result<DeadLetter, sqlx::Error> {
    let [tenant, session, run] = [row.text("tenant")?, row.text("session_id")?, row.text("id")?];
    letter((&tenant, &session, &run), row)
}

fn letter((tenant, session, run): (&str, &str, &str), row: &PgRow) -> Result<DeadLetter, sqlx::Error> {
    let attempts = u32::try_from(row.count("attempts")?).unwrap_or(u32::MAX);
    Ok(DeadLetter::new(
        (tenant, session, run),
        attempts,
        row.optional_text("worker")?,
        row.time("dead_at")?,
    ))
}
