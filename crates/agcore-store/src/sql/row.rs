//! [`SqlRow`]: a row of a result, of either database.

use agcore_chat::Timestamp;
use serde::de::DeserializeOwned;

/// A row of a result, whose columns are read by name.
///
/// Every method fails if there is no such column, or if its value is not of the type that is asked for.
pub(crate) trait SqlRow {
    /// The error of the database's own client.
    type Error;

    /// Returns a text that may be absent.
    fn optional_text(&self, column: &str) -> Result<Option<String>, Self::Error>;

    /// Returns a text of any characters that may be absent. PostgreSQL stores some of them as others.
    fn optional_prose(&self, column: &str) -> Result<Option<String>, Self::Error>;

    /// Returns a number that may be absent.
    fn optional_number(&self, column: &str) -> Result<Option<i64>, Self::Error>;

    /// Returns a value that is stored as JSON and may be absent.
    fn optional_json<T: DeserializeOwned>(&self, column: &str) -> Result<Option<T>, Self::Error>;

    /// Returns a value that is stored by its name.
    fn named<T>(&self, column: &str, from_name: impl FnOnce(&str) -> Option<T>) -> Result<T, Self::Error>;

    /// Returns the error of a value that cannot be read.
    fn damaged(column: &str, reason: String) -> Self::Error;

    /// Returns a text.
    fn text(&self, column: &str) -> Result<String, Self::Error> {
        self.optional_text(column)?.ok_or_else(|| absent::<Self>(column))
    }

    /// Returns a text of any characters.
    fn prose(&self, column: &str) -> Result<String, Self::Error> {
        self.optional_prose(column)?.ok_or_else(|| absent::<Self>(column))
    }

    /// Returns a number.
    fn number(&self, column: &str) -> Result<i64, Self::Error> {
        self.optional_number(column)?.ok_or_else(|| absent::<Self>(column))
    }

    /// Returns a number that is never negative.
    fn count(&self, column: &str) -> Result<u64, Self::Error> {
        self.number(column).map(i64::unsigned_abs)
    }

    /// Returns a value that is stored as JSON.
    fn json<T: DeserializeOwned>(&self, column: &str) -> Result<T, Self::Error> {
        self.optional_json(column)?.ok_or_else(|| absent::<Self>(column))
    }

    /// Returns a time.
    fn time(&self, column: &str) -> Result<Timestamp, Self::Error> {
        self.number(column).map(Timestamp::from_millis)
    }

    /// Returns a time that may be absent.
    fn optional_time(&self, column: &str) -> Result<Option<Timestamp>, Self::Error> {
        Ok(self.optional_number(column)?.map(Timestamp::from_millis))
    }
}

#[cold]
fn absent<R: SqlRow + ?Sized>(column: &str) -> R::Error {
    R::damaged(column, "there is no value".to_owned())
}
