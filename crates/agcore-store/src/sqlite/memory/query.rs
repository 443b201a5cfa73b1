//! Conditions in the SQL of SQLite.

use agcore_memory::MemoryFilter;
use rusqlite::{
    Connection, Params, ToSql, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};
use serde_json::Value as Json;

use crate::sql::{Conditions, Value};

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Integer(number) => ValueRef::Integer(*number),
        }))
    }
}

/// Selects what a filter selects.
pub(super) fn selecting(filter: &MemoryFilter) -> Conditions {
    Conditions::selecting(filter, metadata)
}

/// Returns the values of a condition as those of a statement.
pub(in crate::sqlite) fn params_of(conditions: &Conditions) -> impl Params {
    params_from_iter(conditions.values())
}

/// Counts the selected items.
pub(super) fn count(connection: &Connection, conditions: &Conditions) -> rusqlite::Result<u64> {
    let sql = format!("SELECT count(*) FROM memory_items WHERE {}", conditions.sql());
    let count: i64 = connection.query_row(&sql, params_of(conditions), |row| row.get(0))?;
    Ok(count.unsigned_abs())
}

/// Selects items whose metadata has an entry.
fn metadata(name: &str, value: &Json) -> Conditions {
    let entry = "EXISTS (SELECT 1 FROM json_each(metadata) WHERE key = ? AND ";
    let name = Value::Text(name.to_owned());
    match value {
        Json::String(value) => {
            let value = Value::Text(value.clone());
            Conditions::new(format!("{entry}type = 'text' AND value = ?)"), [name, value])
        }
        Json::Bool(value) => Conditions::new(format!("{entry}type = '{value}')"), [name]),
        value => {
            let sql = format!("{entry}type = 'integer' AND value = ?)");
            // Filters are checked before, so that there is a number.
            let number = Value::Integer(value.as_i64().unwrap_or_default());
            Conditions::new(sql, [name, number])
        }
    }
}
