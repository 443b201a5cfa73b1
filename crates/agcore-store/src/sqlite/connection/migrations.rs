//! Creates and migrates the tables.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::{
    error::{StoreError, StoreErrorKind},
    sqlite::error::convert,
};

/// Marks a file as a database of agcore: the letters `agc1`.
const APPLICATION_ID: i64 = 0x6167_6331;

/// Marks a file of a development version before the first release, whose versions were numbered differently.
const UNRELEASED_ID: i64 = 0x6167_636f;

/// The migrations. The first one creates version 1.
const MIGRATIONS: &[&str] = &[include_str!("../../../migrations/sqlite/0001.sql")];

/// The newest version.
pub(in crate::sqlite) const NEWEST: u32 = MIGRATIONS.len() as u32;

/// Creates the tables, or migrates those of an older version. Returns the version before, 0 if there were no tables.
pub(in crate::sqlite) fn migrate(connection: &mut Connection, path: &Path) -> Result<u32, StoreError> {
    version(connection, path)?;
    apply(connection, MIGRATIONS).map_err(|error| convert(&cannot_open(path), error))
}

/// Returns the version of the tables, 0 if there are none.
///
/// # Errors
/// When the database must not be touched, because it is one of another program or of a newer version of agcore.
pub(in crate::sqlite) fn version(connection: &Connection, path: &Path) -> Result<u32, StoreError> {
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let read = || {
        let tables = "SELECT count(*) FROM sqlite_schema";
        let is_empty = connection.query_row(tables, [], |row| row.get::<_, i64>(0))? == 0;
        let owner = if is_empty {
            APPLICATION_ID
        } else {
            pragma("application_id")?
        };
        Ok((owner, pragma("user_version")?))
    };
    let attempt = cannot_open(path);
    let (owner, version) = read().map_err(|error| convert(&attempt, error))?;
    match (owner, u32::try_from(version)) {
        (APPLICATION_ID, Ok(version)) if version <= NEWEST => Ok(version),
        (APPLICATION_ID, _) => Err(StoreError::new(
            StoreErrorKind::Serialization,
            format!(
                "{attempt}: it has version {version}, but this program knows versions up to {NEWEST}; update the program"
            ),
        )),
        (UNRELEASED_ID, _) => Err(StoreError::new(
            StoreErrorKind::Serialization,
            format!(
                "{attempt}: a development version before the first release has written it, which cannot be migrated; \
                 use another file, or delete this one"
            ),
        )),
        _ => Err(StoreError::invalid(format!(
            "{attempt}: it is a database of another program; use another file"
        ))),
    }
}

fn cannot_open(path: &Path) -> String {
    format!("cannot open {}", path.display())
}

/// Applies the migrations that are missing, all of them or none. Returns the version before.
fn apply(connection: &mut Connection, migrations: &[&str]) -> rusqlite::Result<u32> {
    // Another process may be doing the same.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: u32 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let done = usize::try_from(version).unwrap_or(usize::MAX);
    for migration in migrations.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    if done < migrations.len() {
        let newest = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", newest)?;
    }
    transaction.commit()?;
    Ok(version)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: &str =
        "ALTER TABLE journal_streams ADD COLUMN label TEXT NOT NULL DEFAULT 'none'; CREATE TABLE labels (label)";

    /// Opens a database of version 1 with a stream.
    fn first() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        assert_eq!(apply(&mut connection, MIGRATIONS).unwrap(), 0);
        connection
            .execute("INSERT INTO journal_streams (name, last_seq) VALUES ('notes', 7)", [])
            .unwrap();
        connection
    }

    fn version_of(connection: &Connection) -> u32 {
        connection
            .pragma_query_value(None, "user_version", |row| row.get(0))
            .unwrap()
    }

    #[test]
    fn a_second_version_keeps_the_data() {
        let mut connection = first();
        let both = [MIGRATIONS[0], SECOND];
        assert_eq!(apply(&mut connection, &both).unwrap(), 1);
        assert_eq!(version_of(&connection), 2);
        let read = "SELECT name, last_seq, label FROM journal_streams";
        let row = connection.query_row(read, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        assert_eq!(row.unwrap(), ("notes".to_owned(), 7, "none".to_owned()));
        // There is nothing left to do, and a program that knows version 1 only says so.
        assert_eq!(apply(&mut connection, &both).unwrap(), 2);
        let error = version(&connection, Path::new("agcore.db")).unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Serialization);
        assert!(
            error
                .message()
                .contains("it has version 2, but this program knows versions up to 1")
        );
    }

    #[test]
    fn a_migration_that_fails_changes_nothing() {
        let mut connection = first();
        connection.execute_batch("CREATE TABLE labels (x)").unwrap();
        apply(&mut connection, &[MIGRATIONS[0], SECOND]).unwrap_err();
        assert_eq!(version_of(&connection), 1);
        assert!(connection.prepare("SELECT label FROM journal_streams").is_err());
        connection.execute_batch("DROP TABLE labels").unwrap();
        apply(&mut connection, &[MIGRATIONS[0], SECOND]).unwrap();
        assert_eq!(version_of(&connection), 2);
    }
}
