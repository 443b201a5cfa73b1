//! Commits of events alone. A server that streams makes many of them for each run, so they take fewer statements than others.

use agcore_chat::{Clock, Timestamp};
use agcore_session::{Commit, Committed, NewEvent, SessionError, SessionEvents};
use rusqlite::{CachedStatement, Connection, OptionalExtension as _, params};

use super::{event, row::missing, run};
use crate::{
    error::StoreError,
    sqlite::{error::convert, leases::check_fence, rows::number},
};

/// The time by which events may be newer than their session, in milliseconds. Each change of that time changes four indexes.
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

/// The statements of such commits, which are looked up once for all sessions of a batch.
struct Statements<'c> {
    connection: &'c Connection,
    find: CachedStatement<'c>,
    insert: CachedStatement<'c>,
    /// Notes the number of the last event.
    number: CachedStatement<'c>,
    /// Notes the time.
    touch: CachedStatement<'c>,
}

/// Writes the events of several sessions, those of each completely or not at all.
///
/// # Errors
/// When one of these writes failed after it has changed something.
pub(super) fn commit_all(
    connection: &Connection,
    batch: &[SessionEvents],
    now: Timestamp,
    clock: &dyn Clock,
) -> Result<Vec<Result<Committed, StoreError>>, StoreError> {
    let mut statements = Statements::prepare(connection)?;
    let mut results = Vec::with_capacity(batch.len());
    for part in batch {
        let before = connection.total_changes();
        let result = match part.check() {
            Ok(()) => statements.commit(part, now, clock),
            Err(error) => Err(error.into()),
        };
        if result.is_err() && connection.total_changes() != before {
            return result.map(|_| Vec::new());
        }
        results.push(result);
    }
    Ok(results)
}

/// Writes the events of one session.
pub(super) fn commit(
    connection: &Connection,
    part: &SessionEvents,
    now: Timestamp,
    clock: &dyn Clock,
) -> Result<Committed, StoreError> {
    Statements::prepare(connection)?.commit(part, now, clock)
}

impl<'c> Statements<'c> {
    fn prepare(connection: &'c Connection) -> Result<Self, StoreError> {
        let prepare = |sql| {
            let prepared = connection.prepare_cached(sql);
            prepared.map_err(|error| convert("cannot write the events", error))
        };
        Ok(Self {
            connection,
            // Read by position: names of columns are searched anew for each row.
            find: prepare(
                "SELECT session, ifnull((SELECT last_event FROM event_numbers WHERE session = sessions.session), 0),
                     updated_at, erased_at IS NOT NULL, stream,
                     ifnull((SELECT last_seq FROM journal_streams WHERE name = sessions.stream), 0)
                 FROM sessions WHERE tenant = ?1 AND id = ?2",
            )?,
            insert: prepare(event::INSERT)?,
            number: prepare(event::NUMBER)?,
            touch: prepare("UPDATE sessions SET updated_at = ?2 WHERE session = ?1")?,
        })
    }

    fn commit(&mut self, part: &SessionEvents, now: Timestamp, clock: &dyn Clock) -> Result<Committed, StoreError> {
        if let Some(committed) = self.commit_quickly(part, now, clock)? {
            return Ok(committed);
        }
        let mut commit = Commit::new();
        (commit.events, commit.fence) = (part.events.clone(), part.fence.clone());
        let write = (part.expected, commit, now);
        super::commit::commit(self.connection, (&part.tenant, &part.session), write, clock)
    }

    /// Writes events. Returns `None`, and changes nothing, if there are none, or if the session was erased: then the commit is
    /// refused like any other.
    fn commit_quickly(
        &mut self,
        part: &SessionEvents,
        now: Timestamp,
        clock: &dyn Clock,
    ) -> Result<Option<Committed>, StoreError> {
        let (tenant, id, new) = (&*part.tenant, &*part.session, &part.events);
        let place = self.find(tenant, id)?.ok_or_else(|| missing(id))?;
        check_fence(self.connection, tenant, part.fence.as_ref(), clock)?;
        if place.end != part.expected {
            return Err(SessionError::conflict(&place.stream, part.expected, place.end).into());
        }
        let Some(first) = new.first().filter(|_| !place.is_erased) else {
            return Ok(None);
        };
        // Of the first run, a failure comes before any change.
        for other in new.iter().filter(|event| event.run != first.run) {
            run::check(self.connection, place.key, &other.run)?;
        }
        let mut events = Vec::with_capacity(new.len());
        for (seq, new) in (place.last_event + 1..).zip(new) {
            // The table refuses events of unknown runs, too, but without a reason for people.
            let written = event::insert_with(&mut self.insert, place.key, seq, new, now);
            written.or_else(|error| run::check(self.connection, place.key, &new.run).and(Err(error)))?;
            events.push(seq);
        }
        let last = events.last().copied().unwrap_or(place.last_event);
        let failed = |error| convert("cannot write the session", error);
        self.number.execute(params![place.key, number(last)]).map_err(failed)?;
        if now.as_millis().saturating_sub(place.updated_at) >= RESOLUTION {
            self.touch
                .execute(params![place.key, now.as_millis()])
                .map_err(failed)?;
        }
        Ok(Some(Committed::new(place.end, Vec::new(), events)))
    }

    fn find(&mut self, tenant: &str, id: &str) -> Result<Option<Place>, StoreError> {
        let found = self.find.query_row([tenant, id], |row| {
            Ok(Place {
                key: row.get(0)?,
                last_event: row.get::<_, i64>(1)?.unsigned_abs(),
                updated_at: row.get(2)?,
                is_erased: row.get(3)?,
                stream: row.get(4)?,
                end: row.get::<_, i64>(5)?.unsigned_abs(),
            })
        });
        found
            .optional()
            .map_err(|error| convert("cannot read the session", error))
    }
}
