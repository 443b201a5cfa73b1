//! Events in their table.

use agcore_chat::Timestamp;
use agcore_session::{EventFilter, NewEvent, StoredEvent};
use rusqlite::{Connection, Statement, params};

use super::row::KEY;
use crate::{
    error::StoreError,
    sql::tables::read_event,
    sqlite::{
        error::convert,
        rows::{execute, limit, number, select},
    },
};

const ATTEMPT: &str = "cannot write the event";

/// The statement that writes an event.
pub(super) const INSERT: &str =
    "INSERT INTO events (session, seq, run, kind, created_at, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// The statement that notes the number of the last event of a session.
pub(super) const NUMBER: &str = "INSERT INTO event_numbers (session, last_event) VALUES (?1, ?2)
     ON CONFLICT (session) DO UPDATE SET last_event = excluded.last_event";

/// Notes the number of the last event of a session.
pub(super) fn number_last(connection: &Connection, session: i64, last: u64) -> Result<(), StoreError> {
    execute(connection, ATTEMPT, NUMBER, params![session, number(last)]).map(drop)
}

/// Writes an event.
pub(super) fn insert(
    connection: &Connection,
    session: i64,
    seq: u64,
    event: &NewEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let statement = connection.prepare_cached(INSERT);
    let mut statement = statement.map_err(|error| convert(ATTEMPT, error))?;
    insert_with(&mut statement, session, seq, event, now)
}

/// Writes an event with the prepared statement.
pub(super) fn insert_with(
    statement: &mut Statement<'_>,
    session: i64,
    seq: u64,
    event: &NewEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let params = params![
        session,
        number(seq),
        event.run.as_str(),
        event.kind.as_str(),
        now.as_millis(),
        event.data.to_text(),
    ];
    let inserted = statement.execute(params);
    inserted.map(drop).map_err(|error| convert(ATTEMPT, error))
}

pub(super) fn list(
    connection: &Connection,
    tenant: &str,
    session: &str,
    filter: &EventFilter,
) -> Result<Vec<StoredEvent>, StoreError> {
    let (after, limit) = (number(filter.after), limit(filter.limit));
    let of_run = if filter.run.is_some() { "AND run = ?5" } else { "" };
    let order = if filter.is_last { "DESC" } else { "ASC" };
    let sql = format!(
        "SELECT seq, run, kind, created_at, data FROM events
         WHERE session = {KEY} AND seq > ?3 {of_run} ORDER BY seq {order} LIMIT ?4"
    );
    let attempt = "cannot read the events";
    let mut events = match &filter.run {
        Some(run) => select(
            connection,
            attempt,
            &sql,
            params![tenant, session, after, limit, run],
            |row| read_event(row),
        ),
        None => select(
            connection,
            attempt,
            &sql,
            params![tenant, session, after, limit],
            |row| read_event(row),
        ),
    }?;
    if filter.is_last {
        events.reverse();
    }
    Ok(events)
}
