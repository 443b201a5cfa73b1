//! [`Statement`], and what runs one.

use sqlx::{
    Postgres,
    postgres::{PgArguments, PgRow},
    query::Query,
};

use crate::error::StoreError;

/// A statement with its values.
pub(in crate::postgres) type Statement<'q> = Query<'q, Postgres, PgArguments>;

/// Runs a statement that returns at most one row, alone or in a transaction.
pub(in crate::postgres) trait FetchRow {
    /// Returns the row, if there is one.
    fn row(
        &mut self,
        attempt: &str,
        statement: Statement<'_>,
    ) -> impl Future<Output = Result<Option<PgRow>, StoreError>> + Send;
}
