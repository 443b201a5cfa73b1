//! Maintenance of a file: migrating, checking, copying and shrinking it. Other processes may use the file meanwhile.
//!
//! Each operation runs on a thread of its own with its own connection. Dropping the future does not stop the operation.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use agcore_store::sqlite::{SqliteOptions, maintenance};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("agcore.db");
//! let options = SqliteOptions::new(&path);
//! let migrated = maintenance::migrate(&options).await?;
//! assert_eq!((migrated.from, migrated.to), (0, maintenance::NEWEST_VERSION));
//! assert!(maintenance::check(&options).await?.is_intact());
//! # Ok::<(), agcore_store::StoreError>(())
//! # }).unwrap();
//! ```

mod backup;
mod check;

pub use self::check::{CheckReport, Damage};

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{
    connection::{self, migrations, options::SqliteOptions},
    error::convert,
    thread,
};
use crate::error::{StoreError, StoreErrorKind};

/// The newest version of the tables, which this program creates.
pub const NEWEST_VERSION: u32 = migrations::NEWEST;

/// The result of a migration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Migrated {
    /// The version of the tables before, 0 if there were none.
    pub from: u32,
    /// The version of the tables now.
    pub to: u32,
}

/// The sizes of a file before and after it was compacted, in bytes, including its write-ahead log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vacuumed {
    /// The size before.
    pub before: u64,
    /// The size now.
    pub after: u64,
}

/// The result of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// The number of indexes.
    pub indexes: u64,
}

/// Creates the file and its tables, or migrates the tables of an older version.
///
/// # Errors
/// [`InvalidInput`](StoreErrorKind::InvalidInput) if the file is not a database of agcore,
/// [`Serialization`](StoreErrorKind::Serialization) if it was written by a newer version,
/// [`Unavailable`](StoreErrorKind::Unavailable) if another process holds it for too long, and other errors when it cannot be
/// opened or written.
pub async fn migrate(options: &SqliteOptions) -> Result<Migrated, StoreError> {
    run(options, |options| {
        let mut connection = connection::open(options)?;
        let from = migrations::migrate(&mut connection, &options.path)?;
        let to = NEWEST_VERSION;
        Ok(Migrated { from, to })
    })
    .await
}

/// Checks the file without changing it: its pages, foreign keys, gaps in the journal, and stored JSON that cannot be read.
///
/// # Errors
/// Like [`migrate`], and [`NotFound`](StoreErrorKind::NotFound) if there is no file. Damage is not an error, but listed in the
/// report, unless the file is damaged so badly that it cannot be opened.
pub async fn check(options: &SqliteOptions) -> Result<CheckReport, StoreError> {
    run(options, |options| {
        let (connection, version) = open_existing(options)?;
        check::check(&connection, version).map_err(|error| convert(&options.cannot("check"), error))
    })
    .await
}

/// Copies the database to another file, as it is at one moment, while other processes write to it. The copy is readable by its
/// owner only, and appears under its name when it is complete.
///
/// # Errors
/// [`AlreadyExists`](StoreErrorKind::AlreadyExists) if the target exists and may not be replaced,
/// [`InvalidInput`](StoreErrorKind::InvalidInput) if the target is the database itself or in use as a database, and otherwise
/// like [`check()`].
pub async fn backup(options: &SqliteOptions, target: impl Into<PathBuf>, replace: bool) -> Result<u64, StoreError> {
    let target = target.into();
    run(options, move |options| {
        let (connection, _) = open_existing(options)?;
        backup::backup(&connection, options, &target, replace)
    })
    .await
}

/// Rewrites the database without unused pages, and empties its write-ahead log. Needs free space for a second copy.
///
/// # Errors
/// Like [`check()`]. If another process reads or writes, the error is [`Unavailable`](StoreErrorKind::Unavailable).
pub async fn vacuum(options: &SqliteOptions) -> Result<Vacuumed, StoreError> {
    run(options, |options| {
        let (connection, _) = open_existing(options)?;
        let before = size(&options.path);
        let vacuum = || {
            connection.execute_batch("VACUUM")?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0))
        };
        let is_busy = vacuum().map_err(|error| convert(&options.cannot("vacuum"), error))?;
        if is_busy {
            return Err(StoreError::new(
                StoreErrorKind::Unavailable,
                format!(
                    "{} was rewritten, but its write-ahead log cannot be emptied while others are reading; try again later",
                    options.path.display()
                ),
            ));
        }
        let after = size(&options.path);
        Ok(Vacuumed { before, after })
    })
    .await
}

/// Rebuilds the indexes. The tables stay as they are: messages and events of sessions are not rebuilt from their records.
///
/// # Errors
/// Like [`check()`].
pub async fn rebuild(options: &SqliteOptions) -> Result<Rebuilt, StoreError> {
    run(options, |options| {
        let (connection, _) = open_existing(options)?;
        // Tables that are projections of records are to be rebuilt here, in the same transaction.
        let rebuild = || {
            connection.execute_batch("REINDEX")?;
            let count = "SELECT count(*) FROM sqlite_schema WHERE type = 'index'";
            connection.query_row(count, [], |row| row.get::<_, i64>(0))
        };
        let indexes = rebuild().map_err(|error| convert(&options.cannot("rebuild"), error))?;
        let indexes = indexes.unsigned_abs();
        Ok(Rebuilt { indexes })
    })
    .await
}

async fn run<T: Send + 'static>(
    options: &SqliteOptions,
    operation: impl FnOnce(&SqliteOptions) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let options = options.clone();
    thread::run("agcore-sqlite-maintenance", move || operation(&options)).await
}

/// Opens a database that exists, with tables of a known version. Returns the version.
fn open_existing(options: &SqliteOptions) -> Result<(Connection, u32), StoreError> {
    if !options.path.exists() {
        return Err(StoreError::not_found(format!(
            "cannot open {}: there is no such file",
            options.path.display()
        )));
    }
    let connection = connection::open_existing(options)?;
    let version = migrations::version(&connection, &options.path)?;
    Ok((connection, version))
}

/// Returns the size of a database with its write-ahead log. Files that do not exist have none.
fn size(path: &Path) -> u64 {
    [path.to_owned(), connection::write_ahead_log(path)]
        .iter()
        .filter_map(|path| path.metadata().ok())
        .map(|file| file.len())
        .sum()
}
