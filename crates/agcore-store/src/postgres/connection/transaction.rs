//! [`Transaction`]: several statements that take place together.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Error, SqlSafeStr, postgres::PgRow};
use tokio::time::{error::Elapsed, timeout};

use crate::error::StoreError;
use {
    super::{
        pool::Lease,
        statement::{FetchRow, Statement},
    },
    crate::postgres::error::{convert, is_fatal, no_answer},
};

/// A transaction. It is rolled back, by closing the connection, if this is dropped.
pub(in crate::postgres) struct Transaction<'p> {
    lease: Lease<'p>,
    patience: Duration,
    is_lost: bool,
}

impl<'p> Transaction<'p> {
    /// Begins a transaction.
    pub(in crate::postgres) async fn begin(
        attempt: &str,
        lease: Lease<'p>,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let mut transaction = Self {
            lease,
            patience,
            is_lost: false,
        };
        let begin = transaction.lease.begin();
        match transaction.run(attempt, AssertSqlSafe(begin)).await {
            Ok(()) => Ok(transaction),
            Err(error) => {
                if transaction.is_lost {
                    transaction.lease.replace_all();
                }
                Err(error)
            }
        }
    }

    /// Executes a statement. Returns the number of rows that it changed.
    pub(in crate::postgres) async fn execute(
        &mut self,
        attempt: &str,
        statement: Statement<'_>,
    ) -> Result<u64, StoreError> {
        let statement = self.prepared(statement);
        let done = timeout(self.patience, statement.execute(self.lease.connection())).await;
        Ok(self.finish(attempt, done)?.rows_affected())
    }

    /// Returns the rows of a statement.
    pub(in crate::postgres) async fn rows(
        &mut self,
        attempt: &str,
        statement: Statement<'_>,
    ) -> Result<Vec<PgRow>, StoreError> {
        let statement = self.prepared(statement);
        let done = timeout(self.patience, statement.fetch_all(self.lease.connection())).await;
        self.finish(attempt, done)
    }

    /// Commits the transaction if all went well, else rolls it back.
    pub(in crate::postgres) async fn end<T>(
        mut self,
        attempt: &str,
        result: Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.is_lost {
            self.lease.replace_all();
            return result;
        }
        let ended = match &result {
            Ok(_) => self.run(attempt, "COMMIT").await,
            Err(_) => self.run(attempt, "ROLLBACK").await,
        };
        match self.is_lost {
            true => self.lease.replace_all(),
            false => self.lease.give_back(),
        }
        // What went wrong first is the reason.
        result.and_then(|value| ended.map(|()| value))
    }

    /// Has a statement prepared for later ones, if that is possible.
    fn prepared<'q>(&self, statement: Statement<'q>) -> Statement<'q> {
        statement.persistent(self.lease.keeps_statements())
    }

    async fn run(&mut self, attempt: &str, sql: impl SqlSafeStr + Send) -> Result<(), StoreError> {
        let done = timeout(self.patience, sqlx::raw_sql(sql).execute(self.lease.connection())).await;
        self.finish(attempt, done).map(drop)
    }

    /// Returns the result of a statement, and notes whether the connection can still be used.
    fn finish<T>(&mut self, attempt: &str, done: Result<Result<T, Error>, Elapsed>) -> Result<T, StoreError> {
        match done {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(error)) => {
                self.is_lost |= is_fatal(&error);
                Err(convert(attempt, error))
            }
            Err(_) => {
                self.is_lost = true;
                Err(no_answer(attempt))
            }
        }
    }
}

impl FetchRow for Transaction<'_> {
    async fn row(&mut self, attempt: &str, statement: Statement<'_>) -> Result<Option<PgRow>, StoreError> {
        let statement = self.prepared(statement);
        let done = timeout(self.patience, statement.fetch_optional(self.lease.connection())).await;
        self.finish(attempt, done)
    }
}
