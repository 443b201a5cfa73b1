//! The checkpoint store.

use agcore_chat::Timestamp;
use agcore_session::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey, SessionError};
use async_trait::async_trait;
use rusqlite::{Connection, Row, params};

use super::row::KEY;
use crate::{
    error::StoreError,
    sqlite::{
        SqliteStore,
        leases::check_fence,
        rows::{Json, count, execute, number, select, select_one, time},
    },
};

const COLUMNS: &str = "seq, step, is_snapshot, created_at, data";

#[async_trait]
impl CheckpointStore for SqliteStore {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        checkpoint.check()?;
        let (key, fence, now, clock) = (own(run), run.fence.cloned(), self.now(), self.clock());
        self.write(move |connection| {
            check_fence(connection, &key[0], fence.as_ref(), &*clock)?;
            save(connection, &key, expected, checkpoint, now)
        })
        .await
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        let key = own(run);
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM checkpoints WHERE session = {KEY} AND run = ?3 AND seq >= (
                     SELECT max(seq) FROM checkpoints WHERE session = {KEY} AND run = ?3 AND is_snapshot = 1
                 ) ORDER BY seq"
            );
            select(connection, "cannot read the checkpoints", &sql, key, read)
        })
        .await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        let [tenant, session, run] = own(run);
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM checkpoints WHERE session = {KEY} AND run = ?3 AND seq >= ?4 ORDER BY seq"
            );
            let params = params![tenant, session, run, number(from)];
            select(connection, "cannot read the checkpoints", &sql, params, read)
        })
        .await
    }

    async fn checkpoints_at(&self, run: RunKey<'_>, seq: u64) -> Result<Vec<Checkpoint>, SessionError> {
        let [tenant, session, run] = own(run);
        let mut found = self
            .read::<_, StoreError>(move |connection| {
                let sql = format!(
                    "SELECT {COLUMNS} FROM checkpoints WHERE session = {KEY} AND run = ?3 AND seq <= ?4 AND seq >= (
                         SELECT max(seq) FROM checkpoints
                         WHERE session = {KEY} AND run = ?3 AND is_snapshot = 1 AND seq <= ?4
                     ) ORDER BY seq"
                );
                let params = params![tenant, session, run, number(seq)];
                select(connection, "cannot read the checkpoints", &sql, params, read)
            })
            .await?;
        if found.last().is_none_or(|last: &Checkpoint| last.seq != seq) {
            found.clear();
        }
        Ok(found)
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        let (fence, clock) = (run.fence.cloned(), self.clock());
        let [tenant, session, run] = own(run);
        self.write(move |connection| {
            check_fence(connection, &tenant, fence.as_ref(), &*clock)?;
            let sql = format!(
                "DELETE FROM checkpoints WHERE session = {KEY} AND run = ?3 AND seq < (
                     SELECT max(seq) FROM checkpoints
                     WHERE session = {KEY} AND run = ?3 AND is_snapshot = 1 AND seq <= ?4
                 )"
            );
            let params = params![tenant, session, run, number(before)];
            execute(connection, "cannot trim the checkpoints", &sql, params)
        })
        .await
    }
}

/// Returns the tenant and the ids of the session and the run.
fn own(run: RunKey<'_>) -> [String; 3] {
    [run.tenant, run.session, run.run].map(str::to_owned)
}

fn save(
    connection: &Connection,
    [tenant, session, id]: &[String; 3],
    expected: u64,
    checkpoint: NewCheckpoint,
    now: Timestamp,
) -> Result<u64, StoreError> {
    let attempt = "cannot save the checkpoint";
    let run = RunKey::new(tenant, session, id);
    let sql = format!(
        "SELECT session, ifnull((SELECT max(seq) FROM checkpoints WHERE session = runs.session AND run = runs.id), 0)
             AS last FROM runs WHERE session = {KEY} AND id = ?3"
    );
    let read = |row: &Row<'_>| Ok((row.get::<_, i64>("session")?, count(row, "last")?));
    let found = select_one(connection, attempt, &sql, [tenant, session, id], read)?;
    let (key, last) = found.ok_or_else(|| run.not_found())?;
    let seq = run.next(last, expected, &checkpoint)?;
    let sql = "INSERT INTO checkpoints (session, run, seq, step, is_snapshot, created_at, data)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let data = checkpoint.data.to_string();
    let params = params![
        key,
        id,
        number(seq),
        checkpoint.step,
        checkpoint.is_snapshot,
        now.as_millis(),
        data
    ];
    execute(connection, attempt, sql, params)?;
    Ok(seq)
}

fn read(row: &Row<'_>) -> rusqlite::Result<Checkpoint> {
    let (step, Json(data)) = (row.get::<_, String>("step")?, row.get("data")?);
    let new = match row.get("is_snapshot")? {
        true => NewCheckpoint::snapshot(step, data),
        false => NewCheckpoint::patch(step, data),
    };
    Ok(new.store(count(row, "seq")?, time(row, "created_at")?))
}
