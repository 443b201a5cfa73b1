//! Texts of statements that depend on conditions, and their values.

use sqlx::AssertSqlSafe;

use super::{connection::statement::Statement, text::lookup};
use crate::sql::{Conditions, Value};

/// The time of the server in milliseconds. It is not that of the beginning of the transaction, which may have waited for locks.
pub(super) const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// Creates a statement. Its text must contain no values.
pub(super) fn statement<'q>(sql: String) -> Statement<'q> {
    sqlx::query(AssertSqlSafe(sql))
}

/// Appends the values of a condition to those of a statement.
pub(super) fn bind_all<'q>(statement: Statement<'q>, conditions: &Conditions) -> Statement<'q> {
    let bind = |statement: Statement<'q>, value: &Value| match value {
        Value::Text(text) => statement.bind(lookup(text).map(str::to_owned)),
        Value::Integer(number) => statement.bind(*number),
    };
    conditions.values().iter().fold(statement, bind)
}

/// Replaces the question marks of a condition with numbered places.
pub(super) fn numbered(sql: &str, first: usize) -> String {
    let mut parts = sql.split('?');
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for (number, part) in (first..).zip(parts) {
        numbered += &format!("${number}{part}");
    }
    numbered
}

/// Converts a number for the database. PostgreSQL's integers have a sign; no number gets that large.
pub(super) fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_numbered() {
        assert_eq!(numbered("a = ? AND b = ?", 3), "a = $3 AND b = $4");
        assert_eq!(numbered("TRUE", 1), "TRUE");
    }
}
