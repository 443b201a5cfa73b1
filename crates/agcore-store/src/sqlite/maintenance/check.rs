//! Looks for damage.

use std::fmt;

use rusqlite::{Connection, ErrorCode, types::ValueRef};
use serde_json::Value;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// The version of the tables.
    pub version: u32,
    /// The damage, at most 100 entries of each kind.
    pub damage: Vec<Damage>,
}

/// A kind of damage, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Damage {
    /// SQLite's own check of its pages and indexes found this.
    Page(String),
    /// A row refers to a row of another table that does not exist.
    #[non_exhaustive]
    ForeignKey {
        /// The table of the row.
        table: String,
        /// The table to which it refers.
        parent: String,
    },
    /// Records are missing in the middle or at the end of a stream.
    #[non_exhaustive]
    Gap {
        /// The name of the stream.
        stream: String,
        /// The number of missing records.
        missing: u64,
    },
    /// A column contains JSON that cannot be read.
    #[non_exhaustive]
    Json {
        /// The table.
        table: &'static str,
        /// The row, as its name or its place in a stream.
        row: String,
    },
}

impl CheckReport {
    /// Returns whether nothing is damaged.
    pub fn is_intact(&self) -> bool {
        self.damage.is_empty()
    }
}

impl Damage {
    /// Returns the kind of damage, for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Page(_) => "page",
            Self::ForeignKey { .. } => "foreign_key",
            Self::Gap { .. } => "gap",
            Self::Json { .. } => "json",
        }
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Page(problem) => f.write_str(problem),
            Self::ForeignKey { table, parent } => {
                write!(f, "a row of {table} refers to a row of {parent} that does not exist")
            }
            Self::Gap { stream, missing } => write!(f, "the stream `{stream}` lacks {missing} records"),
            Self::Json { table, row } => write!(f, "the JSON of {row} in {table} cannot be read"),
        }
    }
}

/// The maximum number of entries of each kind.
const LIMIT: usize = 100;

/// A column that contains JSON, and how its rows are called.
struct JsonColumn {
    table: &'static str,
    /// An expression for the name of a row.
    row: &'static str,
    column: &'static str,
    from: &'static str,
}

/// The name of a row that belongs to a session.
const OF_SESSION: &str =
    "'a row of the session `' || coalesce((SELECT id FROM sessions WHERE session = part.session), '?') || '`'";

const JSON_COLUMNS: [JsonColumn; 19] = [
    JsonColumn {
        table: "memory_items",
        row: "'the item `' || id || '` of ' || tenant",
        column: "metadata",
        from: "memory_items",
    },
    JsonColumn {
        table: "journal_records",
        row: "'record ' || seq || ' of the stream `' || coalesce(name, '?') || '`'",
        column: "data",
        from: "journal_records LEFT JOIN journal_streams USING (stream)",
    },
    JsonColumn {
        table: "sessions",
        row: "'the session `' || id || '` of ' || tenant",
        column: "metadata",
        from: "sessions",
    },
    of_session("runs", "input", "runs AS part"),
    of_session("runs", "outcome", "runs AS part"),
    of_session("messages", "usage", "messages AS part"),
    of_session("messages", "metadata", "messages AS part"),
    of_session("events", "data", "events AS part"),
    of_session("documents", "value", "documents AS part"),
    of_session("tool_calls", "arguments", "tool_calls AS part"),
    of_session("tool_calls", "result", "tool_calls AS part"),
    of_session("approvals", "question", "approvals AS part"),
    of_session("approvals", "answer", "approvals AS part"),
    of_session("checkpoints", "data", "checkpoints AS part"),
    of_page("tags"),
    of_page("refs"),
    of_page("place"),
    JsonColumn {
        table: "knowledge_sources",
        row: "'the source `' || id || '` of ' || tenant",
        column: "data",
        from: "knowledge_sources",
    },
    JsonColumn {
        table: "graph_entities",
        row: "'the entity `' || id || '` of ' || tenant",
        column: "tags",
        from: "graph_entities",
    },
];

const fn of_page(column: &'static str) -> JsonColumn {
    JsonColumn {
        table: "knowledge_pages",
        row: "'the page `' || id || '` of ' || tenant",
        column,
        from: "knowledge_pages",
    }
}

const fn of_session(table: &'static str, column: &'static str, from: &'static str) -> JsonColumn {
    JsonColumn {
        table,
        row: OF_SESSION,
        column,
        from,
    }
}

pub(super) fn check(connection: &Connection, version: u32) -> rusqlite::Result<CheckReport> {
    let mut damage = or_unreadable("the pages", pages(connection))?;
    // An empty database has no tables yet.
    if version > 0 {
        damage.extend(or_unreadable(
            "the references between tables",
            foreign_keys(connection),
        )?);
        damage.extend(or_unreadable("the journal", gaps(connection))?);
        for column in &JSON_COLUMNS {
            damage.extend(or_unreadable(column.table, unreadable(connection, column))?);
        }
    }
    Ok(CheckReport { version, damage })
}

/// Converts the error of a part that is too damaged to be checked, so that the damage of other parts is listed, too.
fn or_unreadable(part: &str, found: rusqlite::Result<Vec<Damage>>) -> rusqlite::Result<Vec<Damage>> {
    match found {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            Ok(vec![Damage::Page(format!("{part} cannot be checked: {error}"))])
        }
        found => found,
    }
}

fn pages(connection: &Connection) -> rusqlite::Result<Vec<Damage>> {
    let mut statement = connection.prepare(&format!("PRAGMA integrity_check({LIMIT})"))?;
    let problems = statement.query_map([], |row| row.get::<_, String>(0))?;
    let problems = problems.filter(|problem| !matches!(problem, Ok(text) if text == "ok"));
    problems.map(|problem| problem.map(Damage::Page)).collect()
}

fn foreign_keys(connection: &Connection) -> rusqlite::Result<Vec<Damage>> {
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = statement.query_map([], |row| {
        let (table, parent) = (row.get(0)?, row.get(2)?);
        Ok(Damage::ForeignKey { table, parent })
    })?;
    rows.take(LIMIT).collect()
}

/// Finds streams whose records are not numbered without gaps up to the end of the stream. Their beginning may be trimmed.
fn gaps(connection: &Connection) -> rusqlite::Result<Vec<Damage>> {
    let sql = "SELECT name, last_seq - min(seq) + 1 - count(*) AS missing
               FROM journal_records JOIN journal_streams USING (stream)
               GROUP BY stream HAVING missing <> 0 OR max(seq) > last_seq";
    let mut statement = connection.prepare(sql)?;
    let rows = statement.query_map([], |row| {
        let (stream, missing) = (row.get(0)?, row.get::<_, i64>(1)?.unsigned_abs());
        Ok(Damage::Gap { stream, missing })
    })?;
    rows.take(LIMIT).collect()
}

/// Finds the rows whose JSON a store could not read. SQLite's own functions accept other JSON than the stores do.
fn unreadable(connection: &Connection, column: &JsonColumn) -> rusqlite::Result<Vec<Damage>> {
    let JsonColumn {
        table,
        row,
        column,
        from,
    } = column;
    let mut statement = connection.prepare(&format!(
        "SELECT {column}, {row} FROM {from} WHERE {column} IS NOT NULL"
    ))?;
    let mut rows = statement.query([])?;
    let mut damage = Vec::new();
    while let Some(row) = rows.next()? {
        if is_readable(row.get_ref(0)?) {
            continue;
        }
        let name = row.get_ref(1)?;
        let name = name.as_bytes().map_or_else(|_| "a row".into(), String::from_utf8_lossy);
        let row = name.into_owned();
        damage.push(Damage::Json { table, row });
        if damage.len() == LIMIT {
            break;
        }
    }
    Ok(damage)
}

fn is_readable(value: ValueRef<'_>) -> bool {
    let text = value.as_str().ok();
    text.is_some_and(|text| serde_json::from_str::<Value>(text).is_ok())
}
