//! Commits of events alone. A server that streams makes many of them for each run, so they take fewer statements than others.

use agcore_memory::{
    MemoryError, Timestamp,
    session::{Commit, Committed, NewEvent},
};
use rusqlite::{Connection, params};

use super::{event, row::missing, run};
use crate::sqlite::rows::{execute, number, select_one};

/// The time by which events may be newer than their session, in milliseconds. Each change of that time changes three indexes.
const RESOLUTION: i64 = 1000;

/// The part of a session that such a commit needs.
struct Place {
    /// The key in other tables.
    key: i64,
    last_event: u64,
    updated_at: i64,
    is_erased: bool,
    /// The end of its stream.
    end: u64,
    stream: String,
}

/// Takes the events out of a commit that contains only events.
pub(super) fn events_alone(commit: &mut Commit) -> Option<Vec<NewEvent>> {
    let events = std::mem::take(&mut commit.events);
    if commit.is_empty() && !events.is_empty() {
        return Some(events);
    }
    commit.events = events;
    None
}

/// Writes events. Returns `None`, and changes nothing, if the session was erased: then the commit is refused like any other.
pub(super) fn commit(
    connection: &Connection,
    (tenant, id): (&str, &str),
    expected: u64,
    new: &[NewEvent],
    now: Timestamp,
) -> Result<Option<Committed>, MemoryError> {
    let place = find(connection, tenant, id)?;
    if place.end != expected {
        return Err(MemoryError::conflict(&place.stream, expected, place.end));
    }
    if place.is_erased {
        return Ok(None);
    }
    // Of the first run, a failure comes before any change.
    for other in new.iter().filter(|event| event.run != new[0].run) {
        run::check(connection, place.key, &other.run)?;
    }
    let mut events = Vec::with_capacity(new.len());
    for (seq, new) in (place.last_event + 1..).zip(new) {
        // The table refuses events of unknown runs, too, but without a reason for people.
        let written = event::insert(connection, place.key, seq, new, now);
        written.or_else(|error| run::check(connection, place.key, &new.run).and(Err(error)))?;
        events.push(seq);
    }
    let last = events.last().copied().unwrap_or(place.last_event);
    let attempt = "cannot write the session";
    if now.as_millis().saturating_sub(place.updated_at) < RESOLUTION {
        let sql = "UPDATE sessions SET last_event = ?2 WHERE session = ?1";
        execute(connection, attempt, sql, params![place.key, number(last)])?;
    } else {
        let sql = "UPDATE sessions SET last_event = ?2, updated_at = ?3 WHERE session = ?1";
        execute(
            connection,
            attempt,
            sql,
            params![place.key, number(last), now.as_millis()],
        )?;
    }
    Ok(Some(Committed::new(place.end, Vec::new(), events)))
}

fn find(connection: &Connection, tenant: &str, id: &str) -> Result<Place, MemoryError> {
    // Read by position: names of columns are searched anew for each row.
    let sql = "SELECT session, last_event, updated_at, erased_at IS NOT NULL, stream,
                   ifnull((SELECT last_seq FROM journal_streams WHERE name = sessions.stream), 0)
               FROM sessions WHERE tenant = ?1 AND id = ?2";
    let found = select_one(connection, "cannot read the session", sql, [tenant, id], |row| {
        Ok(Place {
            key: row.get(0)?,
            last_event: row.get::<_, i64>(1)?.unsigned_abs(),
            updated_at: row.get(2)?,
            is_erased: row.get(3)?,
            stream: row.get(4)?,
            end: row.get::<_, i64>(5)?.unsigned_abs(),
        })
    })?;
    found.ok_or_else(|| missing(id))
}
