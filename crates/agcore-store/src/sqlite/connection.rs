//! Opens connections.

pub(super) mod migrations;
pub(super) mod options;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use rusqlite::{Connection, ErrorCode, OpenFlags, config::DbConfig};

use self::options::{Durability, SqliteOptions};
use super::error::convert;
use crate::error::StoreError;

/// The size of the page cache of the connection that writes, in KiB. Ids are not saved in their order, so that each new one
/// changes another page of the index; a small cache would read and drop these pages over and over.
const CACHE_KIB: i32 = 16 * 1024;

/// The size of the page cache of a connection that reads, in KiB. A search in a large index of texts reads hundreds of pages,
/// mostly those of frequent words.
const READER_CACHE_KIB: i32 = 8 * 1024;

/// The number of pages in the write-ahead log, of 4 KiB each, after which they are copied into the database. A page that was
/// changed several times meanwhile is copied only once, so that many writers are a fifth faster than with SQLite's 1000.
const CHECKPOINT_PAGES: u32 = 4_000;

/// The number of statements that a connection keeps prepared.
const PREPARED_STATEMENTS: usize = 128;

/// Opens the connection of the writer and creates the file if it does not exist.
pub(super) fn open(options: &SqliteOptions) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let connection = connect(options, flags)?;
    let synchronous = match options.durability {
        Durability::ProcessDeath => "NORMAL",
        Durability::PowerLoss => "FULL",
    };
    let set_up = || {
        use_write_ahead_log(&connection, options.busy_timeout)?;
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
        connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
        if let Some(pages) = options.max_pages {
            connection.pragma_update(None, "max_page_count", pages)?;
        }
        // What is deleted is overwritten: erasing a user must leave nothing in the file.
        connection.pragma_update(None, "secure_delete", true)
    };
    set_up().map_err(|error| convert(&cannot_open(options), error))?;
    Ok(connection)
}

/// Switches to a write-ahead log. SQLite itself does not wait for another connection that does the same: each would wait for the
/// other one to give up the lock for reading.
fn use_write_ahead_log(connection: &Connection, timeout: Duration) -> rusqlite::Result<()> {
    let mut pauses = (1..).map(Duration::from_millis).scan(timeout, |rest, pause| {
        *rest = rest.checked_sub(pause)?;
        Some(pause)
    });
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => match pauses.next() {
                Some(pause) => std::thread::sleep(pause),
                None => return Err(error),
            },
            switched => return switched,
        }
    }
}

/// Opens a connection for maintenance, which does not create the file.
pub(super) fn open_existing(options: &SqliteOptions) -> Result<Connection, StoreError> {
    let connection = connect(options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let set_up = || {
        connection.pragma_update(None, "secure_delete", true)?;
        // A check must not change a damaged file.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
    };
    set_up().map_err(|error| convert(&cannot_open(options), error))?;
    Ok(connection)
}

/// Opens the connection of a reader.
pub(super) fn open_for_reading(options: &SqliteOptions) -> Result<Connection, StoreError> {
    // A file that is opened read-only cannot be read in WAL mode if no other connection is open.
    let connection = connect(options, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let set_up = || {
        connection.pragma_update(None, "cache_size", -READER_CACHE_KIB)?;
        connection.pragma_update(None, "query_only", true)
    };
    set_up().map_err(|error| convert(&cannot_open(options), error))?;
    Ok(connection)
}

fn connect(options: &SqliteOptions, flags: OpenFlags) -> Result<Connection, StoreError> {
    let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || {
        let connection = Connection::open_with_flags(&options.path, flags)?;
        connection.busy_timeout(options.busy_timeout)?;
        // Plans do not depend on the values of parameters. Otherwise, SQLite prepares a statement with `LIMIT ?` again whenever
        // another number is bound, which takes ten times as long as most of these statements.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        connection.set_prepared_statement_cache_capacity(PREPARED_STATEMENTS);
        Ok(connection)
    };
    open().map_err(|error| convert(&cannot_open(options), error))
}

fn cannot_open(options: &SqliteOptions) -> String {
    format!("cannot open {}", options.path.display())
}

/// Returns the path of the write-ahead log of a database.
pub(super) fn write_ahead_log(path: &Path) -> PathBuf {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    log.into()
}
