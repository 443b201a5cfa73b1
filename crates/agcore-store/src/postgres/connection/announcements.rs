//! [`Announcements`]: notifications that a run can be claimed, on a connection of their own.

use sqlx::postgres::{PgListener, PgPool, PgPoolOptions};
use tokio::sync::Mutex;

use super::{connect::direct_settings, options::PostgresOptions};
use crate::{error::StoreError, postgres::error::convert, sql::hold_key};

/// The notifications of a store. The connection is opened when somebody waits for them, and again after it was lost.
///
/// If the server disappears without closing the connection, notifications are missed until the operating system gives it up.
#[derive(Debug)]
pub(in crate::postgres) struct Announcements {
    channel: String,
    /// Opens the connection, and ends a wait when it is closed.
    pool: PgPool,
    listener: Mutex<Option<PgListener>>,
}

impl Announcements {
    /// Must be called within a runtime of tokio.
    pub(in crate::postgres) fn new(options: &PostgresOptions) -> Self {
        let hash = hold_key(&options.schema, "announcements of runs");
        let hash: String = hash[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        let pool = PgPoolOptions::new()
            .max_connections(1)
            .acquire_timeout(options.acquire_timeout)
            .idle_timeout(None)
            .max_lifetime(None)
            .connect_lazy_with(direct_settings(options));
        Self {
            // Channels belong to the database, not to the schema.
            channel: format!("agcore_runs_{hash}"),
            pool,
            listener: Mutex::default(),
        }
    }

    /// Returns the name of the channel.
    pub(in crate::postgres) fn channel(&self) -> &str {
        &self.channel
    }

    /// Waits for a notification, or until some may have been missed because the connection was lost or is a new one.
    pub(in crate::postgres) async fn next(&self) -> Result<(), StoreError> {
        let mut kept = self.listener.lock().await;
        let Some(listener) = kept.as_mut() else {
            *kept = Some(self.listen().await.map_err(unheard)?);
            return Ok(());
        };
        match listener.try_recv().await {
            Ok(Some(_)) => while listener.next_buffered().is_some() {},
            Ok(None) => *kept = None,
            Err(error) => {
                *kept = None;
                return Err(unheard(error));
            }
        }
        Ok(())
    }

    /// Closes the connection, and ends the calls that wait with an error.
    pub(in crate::postgres) async fn close(&self) {
        let closing = self.pool.close();
        self.listener.lock().await.take();
        closing.await;
    }

    async fn listen(&self) -> Result<PgListener, sqlx::Error> {
        let mut listener = PgListener::connect_with(&self.pool).await?;
        listener.eager_reconnect(false);
        listener.listen(&self.channel).await?;
        Ok(listener)
    }
}

#[cold]
fn unheard(error: sqlx::Error) -> StoreError {
    convert("cannot wait for announcements of runs", error)
}
