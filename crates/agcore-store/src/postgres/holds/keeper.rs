//! [`Keeper`]: the task that keeps the connection of the holds.

use std::{
    collections::{HashMap, hash_map::Entry},
    process,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use agcore_chat::Timestamp;
use agcore_session::{Holder, SessionError};
use sqlx::{Connection, Row, postgres::PgConnection};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};

use crate::{
    error::{StoreError, StoreErrorKind},
    postgres::{
        connection::{connect::connect_to_hold, options::PostgresOptions},
        error::{convert, no_answer, standby},
    },
};

const ATTEMPT: &str = "cannot lock a session";

/// The pause between two checks whether the connection still works.
const CHECK: Duration = Duration::from_secs(1);

/// The longest time that an answer of the server may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A connection without holds is closed after this time.
const MAX_IDLE: Duration = Duration::from_secs(60);

/// After a connection could not be opened, holds are refused for this time without another try: those that have waited meanwhile
/// need not wait one after the other.
const COOL_DOWN: Duration = Duration::from_millis(500);

/// `NULL` on a standby, whose locks the primary server does not know.
const TAKE: &str = "\
SELECT CASE WHEN pg_is_in_recovery() THEN NULL \
    WHEN pg_try_advisory_lock($1) THEN pg_try_advisory_lock_shared($2, $3) ELSE FALSE END";

const RELEASE: &str = "SELECT pg_advisory_unlock($1), pg_advisory_unlock_shared($2, $3)";

const WHO: &str = "\
SELECT a.application_name, host(a.client_addr), t.objid::int8 \
FROM pg_locks l \
JOIN pg_stat_activity a ON a.pid = l.pid \
LEFT JOIN pg_locks t ON t.pid = l.pid AND t.locktype = 'advisory' AND t.database = l.database AND t.objsubid = 2 \
    AND t.classid = $1::int8::oid \
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 \
    AND l.classid = $1::int8::oid AND l.objid = $2::int8::oid \
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
LIMIT 1";

/// The key of a hold, with its name for errors.
#[derive(Debug, Clone)]
pub(super) struct Key {
    pub(super) name: String,
    pub(super) lock: i64,
}

/// Work for the task.
#[derive(Debug)]
pub(super) enum Job {
    Take {
        key: Key,
        now: Timestamp,
        is_lost: Arc<AtomicBool>,
        answer: oneshot::Sender<Result<(), Refusal>>,
    },
    Release(i64),
}

/// Why a hold was not taken.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) error: StoreError,
    /// Whether another connection has it, which may release it at this moment.
    pub(super) is_elsewhere: bool,
}

impl From<StoreError> for Refusal {
    fn from(error: StoreError) -> Self {
        Self {
            error,
            is_elsewhere: false,
        }
    }
}

/// Keeps the connection and the locks on it.
pub(super) struct Keeper {
    options: PostgresOptions,
    connection: Option<PgConnection>,
    held: HashMap<i64, Held>,
    /// Why the last connection could not be opened, and when.
    refusal: Option<(Instant, StoreError)>,
}

struct Held {
    since: Timestamp,
    is_lost: Arc<AtomicBool>,
}

/// Returns the parts of a lock by the time.
fn halves(lock: i64, since: Timestamp) -> (i32, i32) {
    let seconds = since.as_millis().div_euclid(1000);
    // The server keeps both halves as numbers without a sign.
    ((lock >> 32) as i32, seconds as i32)
}

impl Keeper {
    pub(super) fn new(options: PostgresOptions) -> Self {
        Self {
            options,
            connection: None,
            held: HashMap::new(),
            refusal: None,
        }
    }

    /// Works until no job can be sent any more.
    pub(super) async fn run(mut self, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut used = Instant::now();
        loop {
            match timeout(CHECK, jobs.recv()).await {
                Ok(Some(job)) => {
                    used = Instant::now();
                    self.work(job).await;
                }
                Ok(None) => break,
                Err(_) if !self.held.is_empty() => self.check().await,
                Err(_) if used.elapsed() > MAX_IDLE => self.connection = None,
                Err(_) => {}
            }
        }
        if let Some(connection) = self.connection.take() {
            // If it cannot be closed in order, it is closed anyway.
            let _ = timeout(CHECK, connection.close()).await;
        }
    }

    async fn work(&mut self, job: Job) {
        match job {
            Job::Take {
                key,
                now,
                is_lost,
                answer,
            } => {
                if answer.is_closed() {
                    return;
                }
                let taken = self.take(&key, now, is_lost).await;
                let is_taken = taken.is_ok();
                if answer.send(taken).is_err() && is_taken {
                    // The caller has been dropped in the meantime.
                    self.release(key.lock).await;
                }
            }
            Job::Release(lock) => self.release(lock).await,
        }
    }

    async fn take(&mut self, key: &Key, now: Timestamp, is_lost: Arc<AtomicBool>) -> Result<(), Refusal> {
        if let Some(held) = self.held.get(&key.lock) {
            let holder = Holder::new(&*self.options.program, held.since).with_process(process::id());
            return Err(StoreError::from(SessionError::held(&key.name, holder)).into());
        }
        let taken = match self.try_lock(key.lock, now).await {
            // The connection was lost between two checks.
            Err(error) if error.kind() == StoreErrorKind::Unavailable && self.connection.is_none() => {
                self.try_lock(key.lock, now).await?
            }
            taken => taken?,
        };
        if !taken {
            return Err(Refusal {
                error: SessionError::held(&key.name, self.holder(key.lock).await?).into(),
                is_elsewhere: true,
            });
        }
        self.held.insert(key.lock, Held { since: now, is_lost });
        Ok(())
    }

    async fn release(&mut self, lock: i64) {
        let Some(held) = self.held.remove(&lock) else { return };
        let Some(connection) = &mut self.connection else { return };
        let (high, since) = halves(lock, held.since);
        let released = sqlx::query(RELEASE)
            .bind(lock)
            .bind(high)
            .bind(since)
            .execute(connection);
        if !matches!(timeout(PATIENCE, released).await, Ok(Ok(_))) {
            // Its end releases everything.
            self.reconnect().await;
        }
    }

    /// Checks whether the connection works, and replaces it otherwise.
    async fn check(&mut self) {
        let works = match &mut self.connection {
            Some(connection) => matches!(timeout(PATIENCE, connection.ping()).await, Ok(Ok(()))),
            None => false,
        };
        if !works {
            self.reconnect().await;
        }
    }

    /// Opens a connection and locks on it what was locked. What another one has locked in the meantime is lost.
    async fn reconnect(&mut self) {
        self.connection = None;
        let mut kept: Vec<_> = self.held.iter().map(|(lock, held)| (*lock, held.since)).collect();
        while let Some((lock, since)) = kept.pop() {
            match self.lock(lock, since).await {
                Ok(true) => {}
                Ok(false) => {
                    if let Entry::Occupied(held) = self.held.entry(lock) {
                        held.get().is_lost.store(true, Ordering::Relaxed);
                        held.remove();
                        tracing::warn!("a session that was in use here is in use elsewhere: the connection was lost");
                    }
                }
                // The next check tries again.
                Err(_) => {
                    self.connection = None;
                    return;
                }
            }
        }
    }

    async fn try_lock(&mut self, lock: i64, since: Timestamp) -> Result<bool, StoreError> {
        if self.connection.is_none() && !self.held.is_empty() {
            self.reconnect().await;
        }
        self.lock(lock, since).await
    }

    async fn lock(&mut self, lock: i64, since: Timestamp) -> Result<bool, StoreError> {
        let (high, seconds) = halves(lock, since);
        let connection = self.connected().await?;
        let query = sqlx::query(TAKE).bind(lock).bind(high).bind(seconds);
        let done = timeout(PATIENCE, query.fetch_one(connection)).await;
        let row = match done {
            Ok(Ok(row)) => row,
            Ok(Err(error)) => {
                self.connection = None;
                return Err(convert(ATTEMPT, error));
            }
            Err(_) => {
                self.connection = None;
                return Err(no_answer(ATTEMPT));
            }
        };
        let taken: Option<bool> = row.try_get(0).map_err(|error| convert(ATTEMPT, error))?;
        taken.ok_or_else(|| {
            self.connection = None;
            standby(ATTEMPT)
        })
    }

    /// Returns who has a lock.
    async fn holder(&mut self, lock: i64) -> Result<Holder, StoreError> {
        let (high, low) = ((lock >> 32) & 0xffff_ffff, lock & 0xffff_ffff);
        let connection = self.connected().await?;
        let query = sqlx::query(WHO).bind(high).bind(low);
        let found = match timeout(PATIENCE, query.fetch_optional(connection)).await {
            Ok(found) => found.map_err(|error| convert(ATTEMPT, error))?,
            Err(_) => {
                // Its answer may still come.
                self.connection = None;
                return Err(no_answer(ATTEMPT));
            }
        };
        let unknown = Holder::new("a program", Timestamp::default());
        let Some(row) = found else { return Ok(unknown) };
        let name: Option<String> = row.try_get(0).unwrap_or_default();
        let address: Option<String> = row.try_get(1).unwrap_or_default();
        let since: Option<i64> = row.try_get(2).unwrap_or_default();
        let since = Timestamp::from_millis(since.unwrap_or_default() * 1000);
        let (program, id) = parts(name.as_deref().unwrap_or_default());
        let mut holder = Holder::new(program, since);
        holder.process = id;
        holder.address = address;
        Ok(holder)
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, StoreError> {
        match &mut self.connection {
            Some(_) => {}
            None => {
                if let Some((when, error)) = &self.refusal
                    && when.elapsed() < COOL_DOWN
                {
                    return Err(error.clone());
                }
                let patience = self.options.acquire_timeout.min(PATIENCE);
                let opened = connect_to_hold(&self.options, patience).await;
                let opened = opened.inspect_err(|error| self.refusal = Some((Instant::now(), error.clone())));
                self.connection = Some(opened?);
            }
        }
        self.connection.as_mut().ok_or_else(|| no_answer(ATTEMPT))
    }
}

/// Returns the program and the process of the name of a connection.
fn parts(name: &str) -> (&str, Option<u32>) {
    let parsed = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    match parsed.and_then(|(program, id)| Some((program, id.parse().ok()?))) {
        Some((program, id)) => (program, Some(id)),
        None if name.is_empty() => ("a program", None),
        None => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_connection_identifies_its_program() {
        assert_eq!(parts("agcore serve (4711)"), ("agcore serve", Some(4711)));
        assert_eq!(parts("psql"), ("psql", None));
        assert_eq!(parts(""), ("a program", None));
    }

    #[test]
    fn times_fit_into_half_a_lock() {
        let since = Timestamp::from_millis(4_102_444_800_000);
        let (_, seconds) = halves(-1, since);
        assert_eq!(seconds as u32, 4_102_444_800);
    }
}
