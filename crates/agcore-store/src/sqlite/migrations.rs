//! Creates and migrates the tables.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::error::convert;
use crate::error::{StoreError, StoreErrorKind};

/// Marks a file as a database of agcore: the letters `agco`.
const APPLICATION_ID: i64 = 0x6167_636f;

/// The migrations. The first one creates version 1.
const MIGRATIONS: [&str; 7] = [
    include_str!("../../migrations/sqlite/0001.sql"),
    include_str!("../../migrations/sqlite/0002.sql"),
    include_str!("../../migrations/sqlite/0003.sql"),
    include_str!("../../migrations/sqlite/0004.sql"),
    include_str!("../../migrations/sqlite/0005.sql"),
    include_str!("../../migrations/sqlite/0006.sql"),
    include_str!("../../migrations/sqlite/0007.sql"),
];

/// The newest version.
pub(super) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Creates the tables, or migrates those of an older version. Returns the version before, 0 if there were no tables.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<u32, StoreError> {
    version(connection, path)?;
    apply(connection).map_err(|error| convert(&cannot_open(path), error))
}

/// Returns the version of the tables, 0 if there are none.
///
/// # Errors
/// When the database must not be touched, because it is one of another program or of a newer version of agcore.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let read = || {
        let tables = "SELECT count(*) FROM sqlite_schema";
        let is_empty = connection.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0;
        let is_own = is_empty || pragma("application_id")? == APPLICATION_ID;
        Ok((is_own, pragma("user_version")?))
    };
    let attempt = cannot_open(path);
    let (is_own, version) = read().map_err(|error| convert(&attempt, error))?;
    if !is_own {
        let message = format!("{attempt}: it is a database of another program; use another file");
        return Err(StoreError::invalid(message));
    }
    let newest = MIGRATIONS.len();
    match u32::try_from(version) {
        Ok(version) if version <= NEWEST => Ok(version),
        _ => Err(StoreError::new(
            StoreErrorKind::Serialization,
            format!(
                "{attempt}: it has version {version}, but this program knows versions up to {newest}; update the program"
            ),
        )),
    }
}

fn cannot_open(path: &Path) -> String {
    format!("cannot open {}", path.display())
}

/// Applies the migrations that are missing. Returns the version before.
fn apply(connection: &mut Connection) -> rusqlite::Result<u32> {
    // Another process may be doing the same.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if version < NEWEST {
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", NEWEST)?;
    }
    transaction.commit()?;
    Ok(version)
}
