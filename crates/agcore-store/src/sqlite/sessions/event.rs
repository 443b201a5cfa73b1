//! Events in their table.

use agcore_memory::{
    MemoryError, Timestamp,
    session::{EventFilter, NewEvent, StoredEvent},
};
use rusqlite::{Connection, Row, params};

use super::row::KEY;
use crate::sqlite::rows::{Json, count, execute, limit, number, select, time};

/// Writes an event.
pub(super) fn insert(
    connection: &Connection,
    session: i64,
    seq: u64,
    event: &NewEvent,
    now: Timestamp,
) -> Result<(), MemoryError> {
    let sql = "INSERT INTO events (session, seq, run, kind, created_at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    let params = params![
        session,
        number(seq),
        event.run,
        event.kind,
        now.as_millis(),
        event.data.to_string(),
    ];
    execute(connection, "cannot write the event", sql, params).map(drop)
}

pub(super) fn list(
    connection: &Connection,
    tenant: &str,
    session: &str,
    filter: &EventFilter,
) -> Result<Vec<StoredEvent>, MemoryError> {
    let (after, limit) = (number(filter.after), limit(filter.limit));
    let of_run = if filter.run.is_some() { "AND run = ?5" } else { "" };
    let sql = format!(
        "SELECT seq, run, kind, created_at, data FROM events
         WHERE session = {KEY} AND seq > ?3 {of_run} ORDER BY seq LIMIT ?4"
    );
    let attempt = "cannot read the events";
    match &filter.run {
        Some(run) => select(
            connection,
            attempt,
            &sql,
            params![tenant, session, after, limit, run],
            read,
        ),
        None => select(connection, attempt, &sql, params![tenant, session, after, limit], read),
    }
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredEvent> {
    let Json(data) = row.get("data")?;
    let event = NewEvent::new(row.get::<_, String>("run")?, row.get::<_, String>("kind")?, data);
    Ok(event.store(count(row, "seq")?, time(row, "created_at")?))
}
