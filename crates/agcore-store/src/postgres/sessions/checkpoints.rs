//! The checkpoint store.

use agcore_session::{Checkpoint, CheckpointStore, Fence, NewCheckpoint, RunKey, SessionError};
use async_trait::async_trait;
use sqlx::{Error, Row, postgres::PgRow};

use super::row::KEY;
use crate::{
    error::StoreError,
    postgres::{
        PostgresStore,
        connection::statement::{FetchRow, Statement},
        error::convert,
        leases::check_fence,
        query::number,
        rows::{count, json, time},
        text::lookup,
    },
};

/// Makes a statement that selects checkpoints of a run.
macro_rules! select {
    ($condition:expr) => {
        concat!(
            "SELECT seq, step, is_snapshot, created_at, data::text AS data FROM checkpoints WHERE session = ",
            KEY!(),
            " AND run = $3 AND seq >= ",
            $condition,
            " ORDER BY seq"
        )
    };
}

#[async_trait]
impl CheckpointStore for PostgresStore {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        checkpoint.check()?;
        let attempt = "cannot save the checkpoint";
        if let Some(fence) = run.fence {
            return Ok(self.save_fenced(attempt, (run, fence), expected, &checkpoint).await?);
        }
        let (now, data) = (self.now().as_millis(), checkpoint.data.to_string());
        loop {
            let (key, last) = last_checkpoint(&mut self.statements(), attempt, run).await?;
            let seq = run.next(last, expected, &checkpoint)?;
            let statement = inserting((key, run.run, seq), &checkpoint, (now, &data));
            if self.statements().execute(attempt, statement).await? > 0 {
                return Ok(seq);
            }
            // Another writer was faster, or has deleted the session: look again.
        }
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        let sql = select!(concat!(
            "(SELECT max(seq) FROM checkpoints WHERE session = ",
            KEY!(),
            " AND run = $3 AND is_snapshot)"
        ));
        Ok(self
            .select("cannot read the checkpoints", of_run(sql, run), read)
            .await?)
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        let statement = of_run(select!("$4"), run).bind(number(from));
        Ok(self.select("cannot read the checkpoints", statement, read).await?)
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        let sql = select!(concat!(
            "(SELECT max(seq) FROM checkpoints WHERE session = ",
            KEY!(),
            " AND run = $3 AND is_snapshot AND seq <= $4) AND seq <= $4"
        ));
        let statement = of_run(sql, run).bind(number(seq));
        let mut found = self.select("cannot read the checkpoints", statement, read).await?;
        if found.last().is_none_or(|last| last.seq != seq) {
            found.clear();
        }
        Ok(found)
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        let sql = concat!(
            "DELETE FROM checkpoints WHERE session = ",
            KEY!(),
            " AND run = $3 AND seq < (SELECT max(seq) FROM checkpoints WHERE session = ",
            KEY!(),
            " AND run = $3 AND is_snapshot AND seq <= $4)"
        );
        let attempt = "cannot trim the checkpoints";
        let statement = of_run(sql, run).bind(number(before));
        if run.fence.is_none() {
            return Ok(self.statements().execute(attempt, statement).await?);
        }
        let mut transaction = self.statements().begin(attempt).await?;
        let trimmed = async {
            check_fence(&mut transaction, run.tenant, run.fence).await?;
            transaction.execute(attempt, statement).await
        };
        let trimmed = trimmed.await;
        Ok(transaction.end(attempt, trimmed).await?)
    }
}

impl PostgresStore {
    /// Saves a checkpoint if the lease holds.
    async fn save_fenced(
        &self,
        attempt: &str,
        (run, fence): (RunKey<'_>, &Fence),
        expected: u64,
        checkpoint: &NewCheckpoint,
    ) -> Result<u64, StoreError> {
        let (now, data) = (self.now().as_millis(), checkpoint.data.to_string());
        loop {
            let mut transaction = self.statements().begin(attempt).await?;
            let saved = async {
                check_fence(&mut transaction, run.tenant, Some(fence)).await?;
                let (key, last) = last_checkpoint(&mut transaction, attempt, run).await?;
                let seq = run.next(last, expected, checkpoint)?;
                let statement = inserting((key, run.run, seq), checkpoint, (now, &data));
                let written = transaction.execute(attempt, statement).await?;
                Ok((written > 0).then_some(seq))
            };
            let saved = saved.await;
            if let Some(seq) = transaction.end(attempt, saved).await? {
                return Ok(seq);
            }
            // Another writer was faster: look again.
        }
    }
}

/// Returns the statement that saves a checkpoint, unless its number is taken or the run does not exist.
fn inserting<'q>(
    (session, run, seq): (i64, &'q str, u64),
    checkpoint: &'q NewCheckpoint,
    (now, data): (i64, &'q str),
) -> Statement<'q> {
    let sql = "INSERT INTO checkpoints (session, run, seq, step, is_snapshot, created_at, data)
               SELECT session, id, $3, $4, $5, $6, $7::json FROM runs WHERE session = $1 AND id = $2 FOR KEY SHARE
               ON CONFLICT DO NOTHING";
    let statement = sqlx::query(sql).bind(session).bind(run).bind(number(seq));
    let statement = statement.bind(&checkpoint.step).bind(checkpoint.is_snapshot);
    statement.bind(now).bind(data)
}

/// Returns the key of the session, and the number of the last checkpoint of the run, which must exist.
async fn last_checkpoint(
    connection: &mut impl FetchRow,
    attempt: &str,
    run: RunKey<'_>,
) -> Result<(i64, u64), StoreError> {
    let sql = concat!(
        "SELECT session,
                coalesce((SELECT max(seq) FROM checkpoints WHERE session = runs.session AND run = runs.id), 0) AS last
         FROM runs WHERE session = ",
        KEY!(),
        " AND id = $3"
    );
    let row = connection.row(attempt, of_run(sql, run)).await?;
    let row = row.ok_or_else(|| run.not_found())?;
    let read = || Ok((row.try_get("session")?, count(&row, "last")?));
    read().map_err(|error| convert(attempt, error))
}

/// Returns a statement about a run.
fn of_run<'q>(sql: &'static str, run: RunKey<'q>) -> Statement<'q> {
    let statement = sqlx::query(sql).bind(lookup(run.tenant)).bind(lookup(run.session));
    statement.bind(lookup(run.run))
}

fn read(row: &PgRow) -> Result<Checkpoint, Error> {
    let (step, data) = (row.try_get::<String, _>("step")?, json(row, "data")?);
    let new = match row.try_get("is_snapshot")? {
        true => NewCheckpoint::snapshot(step, data),
        false => NewCheckpoint::patch(step, data),
    };
    Ok(new.store(count(row, "seq")?, time(row, "created_at")?))
}
