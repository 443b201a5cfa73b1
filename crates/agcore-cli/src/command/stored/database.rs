//! [`Database`]: the file that `store`, `knowledge` and `memory` work on.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use agcore::{
    chat::SystemClock,
    store::sqlite::{SqliteOptions, SqliteStore},
};
use agcore_args::FileArgs;
use agcore_settings::{STORE, places};
use agcore_terminal::{process::variable, render::sanitized_line};
use serde_json::Value;

use crate::{exit::Failure, stdout::print};

/// A database that was named, or the default one.
pub(super) struct Database {
    pub(super) options: SqliteOptions,
    path: PathBuf,
    /// The path, as shown to people and programs.
    pub(super) name: String,
    pub(super) as_json: bool,
    is_default: bool,
}

impl Database {
    /// Returns the database that the arguments name. Nothing is opened yet.
    ///
    /// # Errors
    /// When no file is named, and the environment names a database server or there is no directory for the default file.
    pub(super) fn of(args: &FileArgs) -> Result<Self, Failure> {
        if args.file.is_none() && variable(STORE).is_some() {
            return Err(Failure::usage(
                "this command works on a file, and AGCORE_STORE names a database server: name a file with --file, or unset AGCORE_STORE",
            ));
        }
        let path = args.file.clone().or_else(places::database).ok_or_else(|| {
            Failure::usage("there is no directory for the database, because HOME is not set; name a file with --file")
        })?;
        Ok(Self {
            name: shown(&path),
            options: SqliteOptions::new(&path),
            path,
            as_json: args.json,
            is_default: args.file.is_none(),
        })
    }

    /// Creates the directory of the default database. That of a named one must exist.
    ///
    /// # Errors
    /// When the directory cannot be created.
    pub(super) fn create_directory(&self) -> Result<(), Failure> {
        let directory = self.path.parent().filter(|_| self.is_default);
        let created = directory.map_or(Ok(()), places::create_private_directory);
        created.map_err(|error| Failure::task(format!("cannot create the directory of {}: {error}", self.name)))
    }

    /// Opens the database, which is created if it does not exist.
    ///
    /// # Errors
    /// When the file cannot be created or opened.
    pub(super) async fn create(&self) -> Result<SqliteStore, Failure> {
        self.create_directory()?;
        self.store().await
    }

    /// Opens a database that exists. `command` is the one that creates it: `agcore knowledge add`.
    ///
    /// # Errors
    /// When the file does not exist or cannot be opened.
    pub(super) async fn open(&self, command: &str) -> Result<SqliteStore, Failure> {
        if matches!(self.path.try_exists(), Ok(false)) {
            let name = &self.name;
            return Err(Failure::usage(format!(
                "there is no database {name}\n`{command}` creates it; --file names another one."
            )));
        }
        self.store().await
    }

    async fn store(&self) -> Result<SqliteStore, Failure> {
        let store = self.options.clone().open(Arc::new(SystemClock::new())).await;
        store.map_err(Failure::from)
    }

    /// Prints the result: JSON with the name of the file, or a line of text.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub(super) fn print(&self, mut result: Value, text: &str) -> Result<(), Failure> {
        if self.as_json {
            result["file"] = Value::from(self.name.as_str());
            return print(&format!("{result:#}\n"));
        }
        print(&format!("{text}\n"))
    }
}

/// Returns a path as text for people.
pub(super) fn shown(path: &Path) -> String {
    sanitized_line(&path.display().to_string())
}
