//! Values of rows that are not PostgreSQL's own.

use agcore_chat::Timestamp;
use serde::de::DeserializeOwned;
use sqlx::{Error, Row, postgres::PgRow};

use super::text;

/// Returns a stored time.
pub(super) fn time(row: &PgRow, column: &str) -> Result<Timestamp, Error> {
    row.try_get(column).map(Timestamp::from_millis)
}

/// Returns a stored time that may be absent.
pub(super) fn optional_time(row: &PgRow, column: &str) -> Result<Option<Timestamp>, Error> {
    let millis: Option<i64> = row.try_get(column)?;
    Ok(millis.map(Timestamp::from_millis))
}

/// Returns a value that is stored as JSON and selected as text.
pub(super) fn json<T: DeserializeOwned>(row: &PgRow, column: &str) -> Result<T, Error> {
    let json: &str = row.try_get(column)?;
    serde_json::from_str(json).map_err(|error| damaged(column, error))
}

/// Returns a value that is stored as JSON and selected as text, and may be absent.
pub(super) fn optional_json<T: DeserializeOwned>(row: &PgRow, column: &str) -> Result<Option<T>, Error> {
    let json: Option<&str> = row.try_get(column)?;
    let parsed = json.map(serde_json::from_str).transpose();
    parsed.map_err(|error| damaged(column, error))
}

/// Returns a stored number that is never negative.
pub(super) fn count(row: &PgRow, column: &str) -> Result<u64, Error> {
    row.try_get(column).map(i64::unsigned_abs)
}

/// Returns a text that may have contained NUL characters and may be absent.
pub(super) fn optional_text(row: &PgRow, column: &str) -> Result<Option<String>, Error> {
    let text: Option<String> = row.try_get(column)?;
    Ok(text.map(text::decode))
}

/// Returns a value that is stored by its name.
pub(super) fn named<T>(row: &PgRow, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Error> {
    let name: &str = row.try_get(column)?;
    from_name(name).ok_or_else(|| damaged(column, format!("`{name}` is not a known name")))
}

/// Returns the error of a value that cannot be read.
pub(super) fn damaged(column: &str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::ColumnDecode {
        index: column.to_owned(),
        source: source.into(),
    }
}
