//! Removes what deleted rows left behind.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Error, postgres::PgConnection};
use tokio::time::{Instant, sleep};

use super::{PostgresStore, connection::connect::connect_directly, error::convert};
use crate::error::{StoreError, StoreErrorKind};

const ATTEMPT: &str = "cannot vacuum the tables";

/// The time between two checks for older transactions.
const PAUSE: Duration = Duration::from_millis(50);

/// Selects what still sees the rows that were deleted before a transaction: a rewritten table would keep them.
const OLDER: &str = "
    SELECT holder FROM (
        SELECT format('process %s (%s)', pid, coalesce(nullif(application_name, ''), backend_type)) AS holder,
               greatest(age(backend_xmin), age(backend_xid)) AS age
        FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND backend_type <> 'autovacuum worker'
              AND (datname = current_database() OR datname IS NULL)
        UNION ALL
        SELECT format('prepared transaction %s', gid), age(transaction) FROM pg_prepared_xacts
        WHERE database = current_database()
        UNION ALL
        SELECT format('replication slot %s', slot_name), age(xmin) FROM pg_replication_slots
    ) AS holders
    WHERE age > age($1::xid) LIMIT 1";

impl PostgresStore {
    /// Rewrites the tables, so that nothing of deleted and erased rows is left in their files (`VACUUM FULL`).
    ///
    /// Each table is locked while it is rewritten: other operations wait, and fail with
    /// [`Unavailable`](StoreErrorKind::Unavailable) if it takes longer than their timeout. There must be space for a copy of
    /// the largest table. What the files once contained may survive elsewhere: see [Erasure](Self#erasure).
    ///
    /// If the future is dropped, some tables may not be rewritten.
    ///
    /// # Errors
    /// [`Unavailable`](StoreErrorKind::Unavailable) if an older transaction, which still sees the deleted rows, does not end
    /// within the statement timeout, or a table stays locked for this long. Other errors when the storage fails, or the user
    /// does not own the tables. Transactions of other users are seen only if the user is a member of `pg_read_all_stats`.
    pub async fn vacuum(&self) -> Result<(), StoreError> {
        let options = self.statements().options();
        let mut connection = connect_directly(options, options.acquire_timeout).await?;
        let failed = |error| convert(ATTEMPT, error);
        let holder = wait_for_older(&mut connection, options.statement_timeout).await;
        if let Some(holder) = holder.map_err(failed)? {
            return Err(StoreError::new(
                StoreErrorKind::Unavailable,
                format!("{ATTEMPT}: an older transaction still sees the deleted rows ({holder}); end it and try again"),
            ));
        }
        let vacuumed = rewrite(&mut connection, &options.schema, options.statement_timeout).await;
        vacuumed.map_err(failed)
    }
}

/// Waits until all transactions are younger than this moment. Returns what holds it up after the timeout.
async fn wait_for_older(connection: &mut PgConnection, timeout: Duration) -> Result<Option<String>, Error> {
    let deadline = Instant::now() + timeout;
    let current = "SELECT pg_current_xact_id()::xid::text";
    let current: String = sqlx::query_scalar(current).fetch_one(&mut *connection).await?;
    loop {
        let older = sqlx::query_scalar(OLDER).bind(&current);
        let holder: Option<String> = older.fetch_optional(&mut *connection).await?;
        if holder.is_none() || Instant::now() >= deadline {
            return Ok(holder);
        }
        sleep(PAUSE).await;
    }
}

async fn rewrite(connection: &mut PgConnection, schema: &str, lock_timeout: Duration) -> Result<(), Error> {
    let settings = format!(
        "SET statement_timeout = 0; SET lock_timeout = {}",
        lock_timeout.as_millis()
    );
    sqlx::raw_sql(AssertSqlSafe(settings)).execute(&mut *connection).await?;
    let tables = "SELECT format('VACUUM (FULL, ANALYZE) %I.%I', nspname, relname)
                  FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
                  WHERE nspname = $1 AND relkind = 'r' ORDER BY relname";
    let statements: Vec<String> = sqlx::query_scalar(tables)
        .bind(schema)
        .fetch_all(&mut *connection)
        .await?;
    for statement in statements {
        sqlx::raw_sql(AssertSqlSafe(statement))
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}
