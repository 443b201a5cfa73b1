//! Values of rows that are not PostgreSQL's own.

use agcore_chat::Timestamp;
use serde::de::DeserializeOwned;
use sqlx::{Error, Row, postgres::PgRow};

use super::{connection::statement::Statement, text};
use crate::sql::{
    row::SqlRow,
    tables::{Cell, Table},
};

/// Returns a stored time.
pub(super) fn time(row: &PgRow, column: &str) -> Result<Timestamp, Error> {
    row.try_get(column).map(Timestamp::from_millis)
}

/// Returns a value that is stored as JSON and selected as text.
pub(super) fn json<T: DeserializeOwned>(row: &PgRow, column: &str) -> Result<T, Error> {
    let json: &str = row.try_get(column)?;
    serde_json::from_str(json).map_err(|error| damaged(column, error))
}

/// Returns a stored number that is never negative.
pub(super) fn count(row: &PgRow, column: &str) -> Result<u64, Error> {
    row.try_get(column).map(i64::unsigned_abs)
}

/// Returns the error of a value that cannot be read.
pub(super) fn damaged(column: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::ColumnDecode {
        index: column.to_owned(),
        source: source.into(),
    }
}

impl SqlRow for PgRow {
    type Error = Error;

    fn optional_text(&self, column: &str) -> Result<Option<String>, Error> {
        self.try_get(column)
    }

    fn optional_prose(&self, column: &str) -> Result<Option<String>, Error> {
        let text: Option<String> = self.try_get(column)?;
        Ok(text.map(text::decode))
    }

    fn optional_number(&self, column: &str) -> Result<Option<i64>, Error> {
        self.try_get(column)
    }

    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Error> {
        let json: Option<&str> = self.try_get(column)?;
        let parsed = json.map(serde_json::from_str).transpose();
        parsed.map_err(|error| damaged(column, error))
    }

    fn named<T>(&self, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Error> {
        let name: &str = self.try_get(column)?;
        from_name(name).ok_or_else(|| damaged(column, format!("`{name}` is not a known name")))
    }

    fn damaged(column: &str, reason: String) -> Error {
        damaged(column, reason)
    }
}

/// Returns the statement that writes a row of a session, with the [`upsert`](Table::upsert) of its table.
pub(super) fn writing<'q, T>(upsert: &'static str, table: &Table<T>, session: i64, row: &'q T) -> Statement<'q> {
    let statement = sqlx::query(upsert).bind(session);
    table.cells(row).fold(statement, |statement, cell| match cell {
        Cell::Text(text) => statement.bind(text),
        Cell::Integer(number) => statement.bind(number),
        Cell::OptionalInteger(number) => statement.bind(number),
        Cell::Json(json) => statement.bind(json),
    })
}
