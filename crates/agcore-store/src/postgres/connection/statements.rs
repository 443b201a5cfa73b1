//! [`Statements`]: runs statements on the connections of a pool.

use std::time::Duration;

use sqlx::{Error, postgres::PgRow};
use tokio::time::{error::Elapsed, timeout};

use crate::error::StoreError;
use {
    super::{
        options::PostgresOptions,
        pool::{Lease, Pool},
        statement::{FetchRow, Statement},
        transaction::Transaction,
    },
    crate::postgres::error::{convert, is_fatal, no_answer},
};

/// Runs statements, each as a transaction of its own.
#[derive(Debug)]
pub(in crate::postgres) struct Statements {
    pool: Pool,
    /// How long to wait for the answer to a statement, which the server should have canceled long before.
    patience: Duration,
}

impl Statements {
    /// Creates a pool. No connection is opened yet.
    pub(in crate::postgres) fn new(options: PostgresOptions) -> Self {
        Self {
            patience: options.statement_timeout.saturating_mul(2),
            pool: Pool::new(options),
        }
    }

    /// Returns how the store was opened.
    pub(in crate::postgres) fn options(&self) -> &PostgresOptions {
        self.pool.options()
    }

    /// Begins a transaction of several statements.
    pub(in crate::postgres) async fn begin(&self, attempt: &str) -> Result<Transaction<'_>, StoreError> {
        let lease = self.pool.acquire(attempt).await?;
        Transaction::begin(attempt, lease, self.patience).await
    }

    /// Executes a statement. Returns the number of rows that it changed.
    pub(in crate::postgres) async fn execute(
        &self,
        attempt: &str,
        statement: Statement<'_>,
    ) -> Result<u64, StoreError> {
        if self.pool.is_pooled() {
            let mut transaction = self.begin(attempt).await?;
            let result = transaction.execute(attempt, statement).await;
            return transaction.end(attempt, result).await;
        }
        let mut lease = self.pool.acquire(attempt).await?;
        let done = timeout(self.patience, statement.execute(lease.connection())).await;
        Ok(finish(attempt, lease, done)?.rows_affected())
    }

    /// Returns the rows of a statement.
    pub(in crate::postgres) async fn rows(
        &self,
        attempt: &str,
        statement: Statement<'_>,
    ) -> Result<Vec<PgRow>, StoreError> {
        if self.pool.is_pooled() {
            let mut transaction = self.begin(attempt).await?;
            let result = transaction.rows(attempt, statement).await;
            return transaction.end(attempt, result).await;
        }
        let mut lease = self.pool.acquire(attempt).await?;
        let done = timeout(self.patience, statement.fetch_all(lease.connection())).await;
        finish(attempt, lease, done)
    }

    /// Returns the row of a statement, if there is one.
    pub(in crate::postgres) async fn row(
        &self,
        attempt: &str,
        statement: Statement<'_>,
    ) -> Result<Option<PgRow>, StoreError> {
        if self.pool.is_pooled() {
            let mut transaction = self.begin(attempt).await?;
            let result = transaction.row(attempt, statement).await;
            return transaction.end(attempt, result).await;
        }
        let mut lease = self.pool.acquire(attempt).await?;
        let done = timeout(self.patience, statement.fetch_optional(lease.connection())).await;
        finish(attempt, lease, done)
    }

    /// Waits until the statements that run are finished, and closes all connections.
    pub(in crate::postgres) async fn close(&self) {
        self.pool.close().await;
    }
}

impl FetchRow for &Statements {
    async fn row(&mut self, attempt: &str, statement: Statement<'_>) -> Result<Option<PgRow>, StoreError> {
        Statements::row(self, attempt, statement).await
    }
}

/// Returns the result of a statement, and the connection to the pool if it can still be used.
fn finish<T>(attempt: &str, lease: Lease<'_>, done: Result<Result<T, Error>, Elapsed>) -> Result<T, StoreError> {
    match done {
        Ok(Ok(result)) => {
            lease.give_back();
            Ok(result)
        }
        Ok(Err(error)) => {
            match is_fatal(&error) {
                true => lease.replace_all(),
                false => lease.give_back(),
            }
            Err(convert(attempt, error))
        }
        Err(_) => {
            lease.replace_all();
            Err(no_answer(attempt))
        }
    }
}
