//! The journal.

use agcore_chat::{Timestamp, id};
use agcore_session::{Entry, Journal, Record, SessionError};
use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, params};

use super::{
    SqliteStore,
    error::{convert, unreadable},
    rows::number,
};
use crate::error::StoreError;

#[async_trait]
impl Journal for SqliteStore {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        id::check(stream)?;
        records.iter().try_for_each(Record::check)?;
        let name = stream.to_owned();
        self.write(move |connection| append(connection, &name, expected, &records))
            .await
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        let name = stream.to_owned();
        self.read(move |connection| read(connection, &name, from)).await
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        let name = stream.to_owned();
        let sql = "DELETE FROM journal_records
                   WHERE stream = (SELECT stream FROM journal_streams WHERE name = ?1) AND seq < ?2";
        let trim = move |connection: &Connection| {
            let deleted = connection
                .prepare_cached(sql)
                .and_then(|mut statement| statement.execute(params![name, number(before)]));
            deleted
                .map(drop)
                .map_err(|error| convert("cannot trim the stream", error))
        };
        self.write(trim).await
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        let name = stream.to_owned();
        let delete = move |connection: &Connection| {
            let deleted = connection
                .prepare_cached("DELETE FROM journal_streams WHERE name = ?1")
                .and_then(|mut statement| statement.execute([name]));
            deleted
                .map(|streams| streams > 0)
                .map_err(|error| convert("cannot delete the stream", error))
        };
        self.write(delete).await
    }
}

/// Appends records to a stream if it ends at `expected`. Returns its new end.
pub(super) fn append(
    connection: &Connection,
    name: &str,
    expected: u64,
    records: &[Record],
) -> Result<u64, StoreError> {
    let attempt = |error| convert("cannot append to the stream", error);
    let known = stream(connection, name).map_err(attempt)?;
    let end = known.map_or(0, |(_, end)| end);
    if end != expected {
        return Err(SessionError::conflict(name, expected, end).into());
    }
    if records.is_empty() {
        return Ok(end);
    }
    let data: Vec<String> = records.iter().map(|record| record.data.to_string()).collect();
    let insert = || {
        let new_end = end + records.len() as u64;
        let sql = "INSERT INTO journal_streams (name, last_seq) VALUES (?1, ?2)
                   ON CONFLICT (name) DO UPDATE SET last_seq = excluded.last_seq RETURNING stream";
        let stream: i64 = connection
            .prepare_cached(sql)?
            .query_row(params![name, number(new_end)], |row| row.get(0))?;
        let sql = "INSERT INTO journal_records (stream, seq, kind, version, at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut statement = connection.prepare_cached(sql)?;
        for ((seq, record), data) in (end + 1..).zip(records).zip(&data) {
            let at = record.at.as_millis();
            statement.execute(params![stream, number(seq), record.kind, record.version, at, data])?;
        }
        Ok(new_end)
    };
    insert().map_err(attempt)
}

/// Returns the key and the end of a stream.
fn stream(connection: &Connection, name: &str) -> rusqlite::Result<Option<(i64, u64)>> {
    let sql = "SELECT stream, last_seq FROM journal_streams WHERE name = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs()));
    statement.query_row([name], read).optional()
}

fn read(connection: &Connection, name: &str, from: u64) -> Result<Vec<Entry>, StoreError> {
    let sql = "SELECT seq, kind, version, at, data FROM journal_records
               WHERE stream = (SELECT stream FROM journal_streams WHERE name = ?1) AND seq >= ?2 ORDER BY seq";
    let query = || {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params![name, number(from)], |row| {
            let seq = row.get::<_, i64>(0)?.unsigned_abs();
            let at = Timestamp::from_millis(row.get(3)?);
            Ok((
                seq,
                row.get::<_, String>(1)?,
                row.get::<_, u32>(2)?,
                at,
                row.get::<_, String>(4)?,
            ))
        })?;
        rows.collect::<Result<Vec<_>, _>>()
    };
    let rows = query().map_err(|error| convert("cannot read the stream", error))?;
    let entries = rows.into_iter().map(|(seq, kind, version, at, data)| {
        let data = serde_json::from_str(&data)
            .map_err(|error| unreadable(&format!("record {seq} of the stream `{name}`"), error))?;
        Ok(Entry::new(seq, Record::new(kind, version, at, data)))
    });
    entries.collect()
}
