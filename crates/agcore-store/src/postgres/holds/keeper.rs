//! [`Keeper`]: the task that keeps the connection of the holds.

use std::{process, time::Duration};

use agcore_chat::Timestamp;
use agcore_session::{Holder, SessionError};
use sqlx::{Connection, Row, postgres::PgConnection};
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, timeout},
};

use super::held::{Held, Lock};
use crate::{
    error::{StoreError, StoreErrorKind},
    postgres::{
        connection::{connect::connect_to_hold, options::PostgresOptions},
        error::{convert, no_answer, standby},
    },
    sql::HoldForm,
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

const TAKE_SHARED: &str = "\
SELECT CASE WHEN pg_is_in_recovery() THEN NULL \
    WHEN pg_try_advisory_lock_shared($1) THEN pg_try_advisory_lock_shared($2, $3) ELSE FALSE END";

/// Releases one of the locks of a session, which the server counts.
const RELEASE_SHARED: &str = "SELECT pg_advisory_unlock_shared($1), pg_advisory_unlock_shared($2, $3)";

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

/// Work for the task.
#[derive(Debug)]
pub(super) enum Job {
    /// The name of the hold is for errors.
    Take {
        name: String,
        lock: Lock,
        answer: oneshot::Sender<Result<(), Refusal>>,
    },
    Release(Lock),
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
    held: Held,
    /// Why the last connection could not be opened, and when.
    refusal: Option<(Instant, StoreError)>,
}

impl Keeper {
    pub(super) fn new(options: PostgresOptions) -> Self {
        Self {
            options,
            connection: None,
            held: Held::default(),
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
            Job::Take { name, lock, answer } => {
                if answer.is_closed() {
                    return;
                }
                let taken = self.take(&name, &lock).await;
                let is_taken = taken.is_ok();
                if answer.send(taken).is_err() && is_taken {
                    // The caller has been dropped in the meantime.
                    self.release(&lock).await;
                }
            }
            Job::Release(lock) => self.release(&lock).await,
        }
    }

    async fn take(&mut self, name: &str, lock: &Lock) -> Result<(), Refusal> {
        if let Some(held) = self.held.excluding(lock) {
            let holder = Holder::new(&*self.options.program, held.since).with_process(process::id());
            return Err(StoreError::from(SessionError::held(name, holder)).into());
        }
        let taken = match self.try_lock(lock).await {
            // The connection was lost between two checks.
            Err(error) if error.kind() == StoreErrorKind::Unavailable && self.connection.is_none() => {
                self.try_lock(lock).await?
            }
            taken => taken?,
        };
        if !taken {
            return Err(Refusal {
                error: SessionError::held(name, self.holder(lock.key).await?).into(),
                is_elsewhere: true,
            });
        }
        self.held.insert(lock.clone());
        Ok(())
    }

    async fn release(&mut self, lock: &Lock) {
        if !self.held.remove(lock) {
            return;
        }
        let Some(connection) = &mut self.connection else { return };
        let statement = match lock.form {
            HoldForm::Alone => RELEASE,
            HoldForm::Shared => RELEASE_SHARED,
        };
        let (high, since) = lock.halves();
        let released = sqlx::query(statement)
            .bind(lock.key)
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
        for lock in self.held.all() {
            match self.lock(&lock).await {
                Ok(true) => {}
                Ok(false) => {
                    self.held.lose(&lock);
                    tracing::warn!("a session that was in use here is in use elsewhere: the connection was lost");
                }
                // The next check tries again.
                Err(_) => {
                    self.connection = None;
                    return;
                }
            }
        }
    }

    async fn try_lock(&mut self, lock: &Lock) -> Result<bool, StoreError> {
        if self.connection.is_none() && !self.held.is_empty() {
            self.reconnect().await;
        }
        self.lock(lock).await
    }

    async fn lock(&mut self, lock: &Lock) -> Result<bool, StoreError> {
        let statement = match lock.form {
            HoldForm::Alone => TAKE,
            HoldForm::Shared => TAKE_SHARED,
        };
        let (high, seconds) = lock.halves();
        let connection = self.connected().await?;
        let query = sqlx::query(statement).bind(lock.key).bind(high).bind(seconds);
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

    /// Returns who has a lock, or one of those who share it.
    async fn holder(&mut self, key: i64) -> Result<Holder, StoreError> {
        let (high, low) = ((key >> 32) & 0xffff_ffff, key & 0xffff_ffff);
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
}
