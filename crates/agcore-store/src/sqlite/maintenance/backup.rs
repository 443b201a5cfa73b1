//! Copies a database while it is in use.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use rusqlite::{
    Connection,
    backup::{Backup, StepResult},
};
use tempfile::{Builder, NamedTempFile};

use super::super::{
    connection::{options::SqliteOptions, write_ahead_log},
    error::convert,
};
use crate::error::{StoreError, StoreErrorKind};

/// Copies the database. Returns the size of the copy.
pub(super) fn backup(
    connection: &Connection,
    options: &SqliteOptions,
    target: &Path,
    replace: bool,
) -> Result<u64, StoreError> {
    check_target(&options.path, target, replace)?;
    let written = |error: io::Error| {
        let message = format!("cannot write {}", target.display());
        StoreError::with_source(StoreErrorKind::Storage, message, error)
    };
    let directory = target.parent().filter(|directory| !directory.as_os_str().is_empty());
    // Only the owner can read a temporary file.
    let file = Builder::new()
        .prefix(".agcore-backup-")
        .tempfile_in(directory.unwrap_or(Path::new(".")))
        .map_err(written)?;
    copy(connection, file.path()).map_err(|error| convert(&options.cannot("copy"), error))?;
    let size = file.as_file().metadata().map_err(written)?.len();
    file.as_file().sync_all().map_err(written)?;
    persist(file, target, replace)?;
    Ok(size)
}

/// Checks that the target is neither the database nor another one that is in use.
fn check_target(source: &Path, target: &Path, replace: bool) -> Result<(), StoreError> {
    let Ok(existing) = fs::canonicalize(target) else {
        return Ok(());
    };
    let refuse = |reason: &str| {
        Err(StoreError::invalid(format!(
            "cannot write {}: {reason}",
            target.display()
        )))
    };
    if fs::canonicalize(source).is_ok_and(|source| source == existing) {
        return refuse("it is the database itself; choose another file");
    }
    if !replace {
        return Err(exists(target));
    }
    // The log of the old file would be applied to the new one.
    if write_ahead_log(&existing).exists() {
        return refuse("it is a database in use, because it has a write-ahead log; choose another file");
    }
    Ok(())
}

/// Copies all pages at once: in this way, the copy does not start again whenever another process writes. Writers do not wait
/// for it.
fn copy(source: &Connection, target: &Path) -> rusqlite::Result<()> {
    let mut target = Connection::open(target)?;
    let copied = Backup::new(source, &mut target)?.step(-1)?;
    if copied != StepResult::Done {
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
            None,
        ));
    }
    target.close().map_err(|(_, error)| error)
}

fn persist(file: NamedTempFile, target: &Path, replace: bool) -> Result<(), StoreError> {
    let persisted: Result<_, tempfile::PersistError> = match replace {
        true => file.persist(target_of(target)),
        false => file.persist_noclobber(target),
    };
    match persisted {
        Ok(_) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(exists(target)),
        Err(error) => Err(StoreError::with_source(
            StoreErrorKind::Storage,
            format!("cannot write {}", target.display()),
            error.error,
        )),
    }
}

/// Follows symbolic links, so that they are not replaced.
fn target_of(target: &Path) -> PathBuf {
    fs::canonicalize(target).unwrap_or_else(|_| target.to_owned())
}

fn exists(target: &Path) -> StoreError {
    StoreError::new(
        StoreErrorKind::AlreadyExists,
        format!("cannot write {}: the file already exists", target.display()),
    )
}
