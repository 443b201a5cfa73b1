//! [`Pool`]: open connections for statements to run on.
//!
//! The pool of the driver asks the server after every statement whether the connection still works, waits without a limit
//! for the answer, and hides why no connection could be opened. This one returns a connection only after a complete answer, and
//! closes it otherwise.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use sqlx::{Connection, postgres::PgConnection};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Instant, timeout, timeout_at},
};

use crate::error::{StoreError, StoreErrorKind};
use {
    super::{
        connect::{begin, connect},
        options::PostgresOptions,
    },
    crate::postgres::error::{attempted, closed},
};

/// A connection that was idle for this long is checked before it is used.
const CHECK_AFTER: Duration = Duration::from_secs(1);

/// A connection that was idle for this long is closed.
const MAX_IDLE: Duration = Duration::from_secs(10 * 60);

/// A connection that is this old is closed instead of returned, so that the server can free its memory.
const MAX_AGE: Duration = Duration::from_secs(30 * 60);

/// Opens connections when they are needed, and keeps them for reuse.
pub(in crate::postgres) struct Pool {
    options: PostgresOptions,
    /// The statements with which transactions begin.
    begin: Box<str>,
    permits: Arc<Semaphore>,
    idle: Mutex<Vec<Pooled>>,
}

/// A connection that belongs to a pool.
struct Pooled {
    connection: PgConnection,
    opened: Instant,
    used: Instant,
}

/// A connection in use. It is closed when this is dropped, unless it is [returned](Self::give_back).
pub(in crate::postgres) struct Lease<'p> {
    pool: &'p Pool,
    pooled: Pooled,
    _permit: OwnedSemaphorePermit,
}

impl Pool {
    /// Creates a pool without connections.
    pub(in crate::postgres) fn new(options: PostgresOptions) -> Self {
        let size = usize::try_from(options.pool_size).unwrap_or(usize::MAX);
        Self {
            begin: begin(&options).into(),
            permits: Arc::new(Semaphore::new(size.min(Semaphore::MAX_PERMITS))),
            options,
            idle: Mutex::default(),
        }
    }

    /// Returns how the store was opened.
    pub(in crate::postgres) fn options(&self) -> &PostgresOptions {
        &self.options
    }

    /// Returns whether each transaction may use another connection to the server, because there is a pooler in between.
    pub(in crate::postgres) fn is_pooled(&self) -> bool {
        self.options.server.is_pooled()
    }

    /// Waits for a connection: one that is idle, or a new one.
    pub(in crate::postgres) async fn acquire(&self, attempt: &str) -> Result<Lease<'_>, StoreError> {
        let deadline = Instant::now() + self.options.acquire_timeout;
        let permit = timeout_at(deadline, Arc::clone(&self.permits).acquire_owned()).await;
        let permit = permit
            .map_err(|_| self.exhausted(attempt))?
            .map_err(|_| closed(attempt))?;
        let pooled = match self.usable().await {
            Some(pooled) => pooled,
            None => {
                let left = deadline.saturating_duration_since(Instant::now());
                let opened = connect(&self.options, left).await;
                let now = Instant::now();
                Pooled {
                    connection: opened.map_err(|error| attempted(attempt, &error))?,
                    opened: now,
                    used: now,
                }
            }
        };
        Ok(Lease {
            pool: self,
            pooled,
            _permit: permit,
        })
    }

    /// Waits until all connections are returned, and closes them.
    pub(in crate::postgres) async fn close(&self) {
        let all = self.options.pool_size;
        // An error means that the pool is closed already.
        let _all = self.permits.acquire_many(all).await;
        self.permits.close();
        let idle = std::mem::take(&mut *self.idle());
        for pooled in idle {
            // If a connection cannot be closed in order, it is closed anyway.
            let _ = timeout(CHECK_AFTER, pooled.connection.close()).await;
        }
    }

    /// Returns an idle connection that works, the one that was used last.
    async fn usable(&self) -> Option<Pooled> {
        loop {
            let mut pooled = {
                let mut idle = self.idle();
                idle.retain(|pooled| pooled.used.elapsed() < MAX_IDLE);
                idle.pop()?
            };
            if pooled.used.elapsed() < CHECK_AFTER {
                return Some(pooled);
            }
            if let Ok(Ok(())) = timeout(CHECK_AFTER, pooled.connection.ping()).await {
                return Some(pooled);
            }
        }
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Pooled>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn exhausted(&self, attempt: &str) -> StoreError {
        let size = self.options.pool_size;
        StoreError::new(
            StoreErrorKind::Unavailable,
            format!(
                "{attempt}: all connections of the pool ({size}) are in use; try again later, or use a larger pool"
            ),
        )
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("options", &self.options)
            .field("idle", &self.idle().len())
            .finish_non_exhaustive()
    }
}

impl Lease<'_> {
    /// Returns the connection.
    pub(in crate::postgres) fn connection(&mut self) -> &mut PgConnection {
        &mut self.pooled.connection
    }

    /// Returns the statements with which a transaction begins.
    pub(in crate::postgres) fn begin(&self) -> String {
        self.pool.begin.to_string()
    }

    /// Returns whether statements can be prepared for later ones.
    pub(in crate::postgres) fn keeps_statements(&self) -> bool {
        !self.pool.is_pooled()
    }

    /// Closes this connection and those that are idle: after the end of one, as in a failover, the others are those of the same
    /// server.
    pub(in crate::postgres) fn replace_all(self) {
        self.pool.idle().clear();
    }

    /// Makes the connection available to others. Nothing may be outstanding on it.
    pub(in crate::postgres) fn give_back(mut self) {
        if self.pooled.opened.elapsed() < MAX_AGE {
            self.pooled.used = Instant::now();
            self.pool.idle().push(self.pooled);
        }
    }
}
