//! Creates and migrates the tables.

use std::path::Path;

use agcore_memory::{MemoryError, MemoryErrorKind};
use rusqlite::{Connection, TransactionBehavior};

use super::error::convert;

/// Marks a file as a database of agcore: the letters `agco`.
const APPLICATION_ID: i64 = 0x6167_636f;

/// The migrations. The first one creates version 1.
const MIGRATIONS: [&str; 1] = [include_str!("../../migrations/sqlite/0001.sql")];

/// Creates the tables, or migrates those of an older version.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), MemoryError> {
    let attempt = format!("cannot open {}", path.display());
    let foreign = foreign_reason(connection).map_err(|error| convert(&attempt, error))?;
    if let Some(reason) = foreign {
        return Err(MemoryError::new(
            MemoryErrorKind::Storage,
            format!("{attempt}: {reason}"),
        ));
    }
    apply(connection).map_err(|error| convert(&attempt, error))
}

/// Returns why the database must not be touched, if it is not one of this version of agcore or an older one.
fn foreign_reason(connection: &Connection) -> rusqlite::Result<Option<String>> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let tables = "SELECT count(*) FROM sqlite_schema";
    let is_empty = connection.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0;
    let (application, version) = (pragma("application_id")?, pragma("user_version")?);
    if !is_empty && application != APPLICATION_ID {
        return Ok(Some("it is a database of another program; use another file".to_owned()));
    }
    let newest = MIGRATIONS.len() as i64;
    Ok((version > newest).then(|| {
        format!("it has version {version}, but this program knows versions up to {newest}; update the program")
    }))
}

fn apply(connection: &mut Connection) -> rusqlite::Result<()> {
    // Another process may be doing the same.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(0);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if done < MIGRATIONS.len() {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64)?;
    }
    transaction.commit()
}
