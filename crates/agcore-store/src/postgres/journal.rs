//! The journal.

use agcore_chat::{Timestamp, id};
use agcore_session::{Entry, Journal, Record, SessionError};
use async_trait::async_trait;
use sqlx::{Row, postgres::PgRow};

use super::{
    PostgresStore,
    connection::statement::{FetchRow, Statement},
    error::{convert, unreadable},
    query::number,
    rows::count,
    text::lookup,
};
use crate::error::StoreError;

const APPEND: &str = "cannot append to the stream";

/// Makes a statement that appends records, given one that moves the end of the stream and returns its key. If the latter
/// finds another end than expected, it returns nothing, and nothing is appended.
macro_rules! append {
    ($moved:literal) => {
        concat!(
            "WITH moved AS (",
            $moved,
            " RETURNING stream), appended AS (
                INSERT INTO journal_records (stream, seq, kind, version, at, data)
                SELECT stream, $2 + position, kind, version, at, data::json
                FROM moved, unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[]) WITH ORDINALITY
                     AS new (kind, version, at, data, position)
            )
            SELECT 1 FROM moved"
        )
    };
}

/// Appends to a stream that does not exist.
const START: &str = append!(
    "INSERT INTO journal_streams (name, last_seq) VALUES ($1, $2 + cardinality($3)) ON CONFLICT (name) DO NOTHING"
);

/// Appends to a stream that exists. Of several writers at a time, the others wait here for the first one, and then read
/// the end that it wrote.
const EXTEND: &str =
    append!("UPDATE journal_streams SET last_seq = $2 + cardinality($3) WHERE name = $1 AND last_seq = $2");

#[async_trait]
impl Journal for PostgresStore {
    async fn append(&self, stream: &str, expected: u64, records: Vec<Record>) -> Result<u64, SessionError> {
        id::check(stream)?;
        records.iter().try_for_each(Record::check)?;
        Ok(append(&mut self.statements(), stream, expected, &records).await?)
    }

    async fn read(&self, stream: &str, from: u64) -> Result<Vec<Entry>, SessionError> {
        let sql = "SELECT seq, kind, version, at, data::text FROM journal_records
                   WHERE stream = (SELECT stream FROM journal_streams WHERE name = $1) AND seq >= $2 ORDER BY seq";
        let statement = sqlx::query(sql).bind(lookup(stream)).bind(number(from));
        let rows = self.statements().rows("cannot read the stream", statement).await?;
        rows.iter().map(|row| Ok(entry(stream, row)?)).collect()
    }

    async fn trim(&self, stream: &str, before: u64) -> Result<(), SessionError> {
        let sql = "DELETE FROM journal_records
                   WHERE stream = (SELECT stream FROM journal_streams WHERE name = $1) AND seq < $2";
        let statement = sqlx::query(sql).bind(lookup(stream)).bind(number(before));
        let trimmed = self.statements().execute("cannot trim the stream", statement).await;
        Ok(trimmed.map(drop)?)
    }

    async fn delete(&self, stream: &str) -> Result<bool, SessionError> {
        let statement = sqlx::query("DELETE FROM journal_streams WHERE name = $1").bind(lookup(stream));
        let deleted = self.statements().execute("cannot delete the stream", statement).await?;
        Ok(deleted > 0)
    }
}

/// Appends records to a stream if it ends at `expected`. Returns its new end.
pub(super) async fn append(
    connection: &mut impl FetchRow,
    stream: &str,
    expected: u64,
    records: &[Record],
) -> Result<u64, StoreError> {
    loop {
        if let Some((statement, end)) = appending(stream, expected, records)
            && connection.row(APPEND, statement).await?.is_some()
        {
            return Ok(end);
        }
        let sql = "SELECT last_seq FROM journal_streams WHERE name = $1";
        let row = connection.row(APPEND, sqlx::query(sql).bind(stream)).await?;
        let found = row.map_or(Ok(0), |row| count(&row, "last_seq"));
        let found = found.map_err(|error| convert(APPEND, error))?;
        if found != expected {
            return Err(SessionError::conflict(stream, expected, found).into());
        }
        if records.is_empty() {
            return Ok(found);
        }
        // Between the two statements, others have made the stream end as expected: try again.
    }
}

/// Returns the statement that appends records, and the end of the stream after it. Returns `None` if there is nothing to
/// append, or no stream can be that long.
fn appending<'q>(stream: &'q str, expected: u64, records: &'q [Record]) -> Option<(Statement<'q>, u64)> {
    let end = expected.checked_add(records.len() as u64)?;
    if records.is_empty() || i64::try_from(end).is_err() {
        return None;
    }
    let kinds: Vec<&str> = records.iter().map(|record| record.kind.as_str()).collect();
    let versions: Vec<i64> = records.iter().map(|record| record.version.into()).collect();
    let times: Vec<i64> = records.iter().map(|record| record.at.as_millis()).collect();
    let data: Vec<String> = records.iter().map(|record| record.data.to_string()).collect();
    let statement = sqlx::query(if expected == 0 { START } else { EXTEND });
    let statement = statement.bind(stream).bind(number(expected));
    Some((statement.bind(kinds).bind(versions).bind(times).bind(data), end))
}

fn entry(stream: &str, row: &PgRow) -> Result<Entry, StoreError> {
    let read = || {
        let seq: i64 = row.try_get(0)?;
        let version: i64 = row.try_get(2)?;
        let at = Timestamp::from_millis(row.try_get(3)?);
        let kind: String = row.try_get(1)?;
        // The table allows no other versions.
        Ok((
            seq.unsigned_abs(),
            kind,
            u32::try_from(version).unwrap_or(u32::MAX),
            at,
            row.try_get(4)?,
        ))
    };
    let (seq, kind, version, at, data): (u64, String, u32, Timestamp, &str) =
        read().map_err(|error| convert("cannot read the stream", error))?;
    let data = serde_json::from_str(data)
        .map_err(|error| unreadable(&format!("record {seq} of the stream `{stream}`"), error))?;
    Ok(Entry::new(seq, Record::new(kind, version, at, data)))
}
