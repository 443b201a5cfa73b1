//! The tables of sessions in both databases: their columns with the values, and readers of their rows. The migrations of each
//! database create them.

mod approval;
mod call;
mod document;
mod run;
mod session;
mod written_once;

use serde_json::Value;

#[cfg(feature = "sqlite")]
pub(crate) use self::run::{LEASE_COLUMNS, read_lease};
pub(crate) use self::{
    approval::{APPROVALS, read_approval},
    call::{CALLS, read_call},
    document::{DOCUMENTS, read_document},
    run::{RUNS, read_run},
    session::read_session,
    written_once::{read_event, read_message},
};

/// A table whose rows belong to sessions and are written as a whole: inserted if they are new, changed otherwise.
pub(crate) struct Table<T: 'static> {
    name: &'static str,
    /// The columns that identify a row within its session.
    key: &'static [&'static str],
    columns: &'static [Column<T>],
}

/// Returns the value of a row in a column.
type ValueOf<T> = for<'t> fn(&'t T) -> Cell<'t>;

/// A column, with the value of a row in it.
struct Column<T> {
    name: &'static str,
    value: ValueOf<T>,
    /// Whether the value is JSON.
    is_json: bool,
    change: Change,
}

/// The change of a column when its row is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
    /// It stays as it was inserted, or as other statements have changed it.
    Kept,
    /// It gets the new value.
    Written,
    /// It becomes null under this condition, and is kept otherwise.
    ClearedIf(&'static str),
}

/// A value to be written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell<'c> {
    Text(Option<&'c str>),
    Integer(i64),
    OptionalInteger(Option<i64>),
    Json(Option<String>),
}

/// A database's way to write what SQL does not define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[cfg(feature = "sqlite")]
    Sqlite,
    #[cfg(feature = "postgres")]
    Postgres,
}

impl<T> Table<T> {
    /// Returns the columns for a `SELECT`, which may join other tables.
    pub(crate) fn columns(&self, dialect: Dialect) -> String {
        self.columns_without(dialect, &[])
    }

    /// Returns the columns for a `SELECT`, with null instead of the value of some, which are texts.
    pub(crate) fn columns_without(&self, dialect: Dialect, left_out: &[&str]) -> String {
        let column = |column: &Column<T>| {
            let (table, name) = (self.name, column.name);
            if left_out.contains(&name) {
                return format!("{} AS {name}", dialect.no_text());
            }
            let cast = if column.is_json { dialect.json_as_text() } else { "" };
            format!("{table}.{name}{cast} AS {name}")
        };
        self.columns.iter().map(column).collect::<Vec<_>>().join(", ")
    }

    /// Returns the statement that writes a row. Its values are the key of the session and the [cells](Self::cells).
    pub(crate) fn upsert(&self, dialect: Dialect) -> String {
        let list = |texts: Vec<String>| texts.join(", ");
        let names = list(self.columns.iter().map(|column| column.name.to_owned()).collect());
        let place = |(at, column): (usize, &Column<T>)| {
            let cast = if column.is_json { dialect.text_as_json() } else { "" };
            format!("{}{cast}", dialect.place(at + 2))
        };
        let places = list(self.columns.iter().enumerate().map(place).collect());
        let changes = list(self.columns.iter().filter_map(|column| self.change(column)).collect());
        let key: Vec<&str> = std::iter::once("session").chain(self.key.iter().copied()).collect();
        format!(
            "INSERT INTO {} (session, {names}) VALUES ({}, {places}) ON CONFLICT ({}) DO UPDATE SET {changes}",
            self.name,
            dialect.place(1),
            key.join(", "),
        )
    }

    fn change(&self, column: &Column<T>) -> Option<String> {
        let (table, name) = (self.name, column.name);
        match column.change {
            Change::Kept => None,
            Change::Written => Some(format!("{name} = excluded.{name}")),
            Change::ClearedIf(condition) => Some(format!(
                "{name} = CASE WHEN {condition} THEN NULL ELSE {table}.{name} END"
            )),
        }
    }

    /// Returns the values of a row, in the order of the columns.
    pub(crate) fn cells<'t>(&self, row: &'t T) -> impl Iterator<Item = Cell<'t>> {
        self.columns.iter().map(move |column| (column.value)(row))
    }
}

impl<T> Column<T> {
    /// A column whose value stays as it was inserted.
    const fn fixed(name: &'static str, value: ValueOf<T>) -> Self {
        Self {
            name,
            value,
            is_json: false,
            change: Change::Kept,
        }
    }

    /// A column whose value changes with the row.
    const fn changing(name: &'static str, value: ValueOf<T>) -> Self {
        Self {
            change: Change::Written,
            ..Self::fixed(name, value)
        }
    }

    /// A column that becomes null under a condition.
    const fn cleared_if(name: &'static str, condition: &'static str, value: ValueOf<T>) -> Self {
        Self {
            change: Change::ClearedIf(condition),
            ..Self::fixed(name, value)
        }
    }

    /// A fixed column with JSON.
    const fn fixed_json(name: &'static str, value: ValueOf<T>) -> Self {
        Self {
            is_json: true,
            ..Self::fixed(name, value)
        }
    }

    /// A changing column with JSON.
    const fn changing_json(name: &'static str, value: ValueOf<T>) -> Self {
        Self {
            change: Change::Written,
            ..Self::fixed_json(name, value)
        }
    }
}

impl<'c> Cell<'c> {
    fn text(text: &'c str) -> Self {
        Self::Text(Some(text))
    }

    fn json(value: Option<&Value>) -> Self {
        Self::Json(value.map(Value::to_string))
    }
}

impl Dialect {
    fn place(self, number: usize) -> String {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite => format!("?{number}"),
            #[cfg(feature = "postgres")]
            Self::Postgres => format!("${number}"),
        }
    }

    const fn no_text(self) -> &'static str {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite => "NULL",
            #[cfg(feature = "postgres")]
            Self::Postgres => "NULL::text",
        }
    }

    const fn json_as_text(self) -> &'static str {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite => "",
            #[cfg(feature = "postgres")]
            Self::Postgres => "::text",
        }
    }

    const fn text_as_json(self) -> &'static str {
        match self {
            #[cfg(feature = "sqlite")]
            Self::Sqlite => "",
            #[cfg(feature = "postgres")]
            Self::Postgres => "::json",
        }
    }
}

#[cfg(all(test, feature = "sqlite", feature = "postgres"))]
mod tests {
    use super::*;

    #[test]
    fn statements_name_each_column_once() {
        assert_eq!(
            CALLS.upsert(Dialect::Postgres),
            "INSERT INTO tool_calls (session, run, id, name, started_at, finished_at, arguments, result) \
             VALUES ($1, $2, $3, $4, $5, $6, $7::json, $8::json) \
             ON CONFLICT (session, run, id) DO UPDATE SET finished_at = excluded.finished_at, result = excluded.result"
        );
        assert_eq!(
            CALLS.columns(Dialect::Sqlite),
            "tool_calls.run AS run, tool_calls.id AS id, tool_calls.name AS name, tool_calls.started_at AS started_at, \
             tool_calls.finished_at AS finished_at, tool_calls.arguments AS arguments, tool_calls.result AS result"
        );
        assert!(
            RUNS.columns(Dialect::Sqlite)
                .contains(LEASE_COLUMNS.split_once(", ").unwrap().1)
        );
        assert!(
            RUNS.columns(Dialect::Postgres)
                .ends_with("runs.outcome::text AS outcome")
        );
    }
}
