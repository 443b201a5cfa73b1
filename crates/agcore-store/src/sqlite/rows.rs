//! Statements, and values of rows that are not SQLite's own.

use std::fmt;

use agcore_chat::Timestamp;
use rusqlite::{
    Connection, Params, Row, ToSql, params_from_iter,
    types::{FromSql, FromSqlError, FromSqlResult, ToSqlOutput, Value, ValueRef},
};
use serde::de::DeserializeOwned;

use super::error::convert;
use crate::{
    error::StoreError,
    sql::{
        row::SqlRow,
        tables::{Cell, Table},
    },
};

/// A value that is stored as JSON.
pub(super) struct Json<T>(pub(super) T);

impl<T: DeserializeOwned> FromSql for Json<T> {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let parsed = serde_json::from_slice(value.as_bytes()?);
        parsed.map(Self).map_err(FromSqlError::other)
    }
}

/// Returns a stored time.
pub(super) fn time(row: &Row<'_>, column: &str) -> rusqlite::Result<Timestamp> {
    row.get(column).map(Timestamp::from_millis)
}

/// Returns a stored number that is never negative.
pub(super) fn count(row: &Row<'_>, column: &str) -> rusqlite::Result<u64> {
    row.get(column).map(i64::unsigned_abs)
}

impl SqlRow for Row<'_> {
    type Error = rusqlite::Error;

    fn optional_text(&self, column: &str) -> rusqlite::Result<Option<String>> {
        self.get(column)
    }

    fn optional_prose(&self, column: &str) -> rusqlite::Result<Option<String>> {
        self.get(column)
    }

    fn optional_number(&self, column: &str) -> rusqlite::Result<Option<i64>> {
        self.get(column)
    }

    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> rusqlite::Result<Option<T>> {
        let value: Option<Json<T>> = self.get(column)?;
        Ok(value.map(|Json(value)| value))
    }

    fn named<T>(&self, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> rusqlite::Result<T> {
        let name = self.get_ref(column)?.as_str()?;
        from_name(name).ok_or_else(|| Self::damaged(column, format!("`{name}` is not a known name")))
    }

    fn damaged(column: &str, reason: String) -> rusqlite::Error {
        FromSqlError::other(Damaged(format!("{column}: {reason}"))).into()
    }
}

/// The error of a stored value that this version cannot read.
#[derive(Debug)]
struct Damaged(String);

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Damaged {}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Text(text) => text.map_or(ToSqlOutput::Owned(Value::Null), ToSqlOutput::from),
            Self::Integer(number) => ToSqlOutput::from(*number),
            Self::OptionalInteger(number) => number.map_or(ToSqlOutput::Owned(Value::Null), ToSqlOutput::from),
            Self::Json(json) => json
                .as_deref()
                .map_or(ToSqlOutput::Owned(Value::Null), ToSqlOutput::from),
        })
    }
}

/// Writes a row of a session, with the [`upsert`](Table::upsert) of its table.
pub(super) fn write_row<T>(
    connection: &Connection,
    attempt: &str,
    upsert: &str,
    table: &Table<T>,
    (session, row): (i64, &T),
) -> Result<(), StoreError> {
    let values = std::iter::once(Cell::Integer(session)).chain(table.cells(row));
    execute(connection, attempt, upsert, params_from_iter(values)).map(drop)
}

/// Converts a number for the database. SQLite's integers have a sign; no number gets that large.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts the limit of a filter. SQLite takes −1 as unlimited.
pub(super) fn limit(limit: Option<u64>) -> i64 {
    limit.map_or(-1, number)
}

/// Runs a query and reads its rows.
///
/// # Errors
/// When the query fails or a row cannot be read. `attempt` names the operation: `cannot read the runs`.
pub(super) fn select<T>(
    connection: &Connection,
    attempt: &str,
    sql: &str,
    params: impl Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Vec<T>, StoreError> {
    let query = || {
        let mut statement = connection.prepare_cached(sql)?;
        let rows = statement.query_map(params, read)?;
        rows.collect::<rusqlite::Result<_>>()
    };
    query().map_err(|error| convert(attempt, error))
}

/// Runs a query and reads its first row.
///
/// # Errors
/// When the query fails or the row cannot be read.
pub(super) fn select_one<T>(
    connection: &Connection,
    attempt: &str,
    sql: &str,
    params: impl Params,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Result<Option<T>, StoreError> {
    let query = || {
        let mut statement = connection.prepare_cached(sql)?;
        let mut rows = statement.query(params)?;
        rows.next()?.map(read).transpose()
    };
    query().map_err(|error| convert(attempt, error))
}

/// Executes a statement. Returns the number of rows that it changed.
///
/// # Errors
/// When the statement fails.
pub(super) fn execute(
    connection: &Connection,
    attempt: &str,
    sql: &str,
    params: impl Params,
) -> Result<u64, StoreError> {
    let executed = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params));
    executed
        .map(|rows| rows as u64)
        .map_err(|error| convert(attempt, error))
}
