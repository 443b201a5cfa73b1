//! [`Opened`]: the database of the program or of a server, with everything that it keeps of users.

use std::{fs, path::Path, sync::Arc};

use agcore::{
    chat::{Clock, SystemClock, text::error_chain},
    files::LocalStorage,
    session::Journal,
    store::user_data::UserDataStore,
};
use agcore_args::FileArgs;
use agcore_settings::STORE;
use agcore_terminal::process::variable;

use super::super::database::{Database, shown};

use crate::exit::Failure;

/// An open database.
pub(super) struct Opened {
    pub(super) store: Arc<dyn UserDataStore>,
    pub(super) clock: Arc<dyn Clock>,
    /// The database, as shown to people and programs.
    pub(super) name: String,
}

/// Reads a document.
///
/// # Errors
/// When the file cannot be read.
pub(super) fn text_of(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::usage(format!("cannot read {}: {error}", shown(path))))
}

/// Opens the folder of uploaded files, if one is named.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn open_files(folder: Option<&Path>) -> Result<Option<LocalStorage>, Failure> {
    let opened = folder.map(|folder| {
        LocalStorage::open(folder).map_err(|error| {
            let cause = error_chain(&error);
            Failure::usage(format!("cannot use {}: {cause}", shown(folder)))
        })
    });
    opened.transpose()
}

impl Opened {
    /// Opens the file that is named, else the database server that the environment names, else the file of the program.
    ///
    /// # Errors
    /// When the database does not exist or cannot be used.
    pub(super) async fn of(file: Option<&Path>) -> Result<Self, Failure> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        if file.is_none()
            && let Some(url) = variable(STORE)
        {
            let store = open_server(&url, Arc::clone(&clock)).await?;
            let name = format!("the database of {STORE}");
            return Ok(Self { store, clock, name });
        }
        let database = Database::of(&FileArgs {
            file: file.map(Path::to_owned),
            json: false,
        })?;
        let store = Arc::new(database.open("agcore store migrate").await?);
        Ok(Self {
            store,
            clock,
            name: database.name,
        })
    }

    /// Returns the journal of the database.
    pub(super) fn journal(&self) -> Arc<dyn Journal> {
        self.store.clone()
    }
}

#[cfg(feature = "postgres")]
async fn open_server(url: &str, clock: Arc<dyn Clock>) -> Result<Arc<dyn UserDataStore>, Failure> {
    Ok(Arc::new(
        agcore::store::postgres::PostgresStore::open(url, clock).await?,
    ))
}

/// Creates the tables of a database server, or brings them to the newest version.
///
/// # Errors
/// When the server cannot be used, or has tables of a newer version.
pub(super) async fn migrate_server(url: &str) -> Result<(), Failure> {
    open_server(url, Arc::new(SystemClock::new())).await.map(drop)
}

/// Removes what erased rows have left in the files of a database server.
///
/// # Errors
/// When the server cannot be used, or an older transaction still sees the rows.
#[cfg(feature = "postgres")]
pub(super) async fn vacuum_server(url: &str) -> Result<(), Failure> {
    let store = agcore::store::postgres::PostgresStore::open(url, Arc::new(SystemClock::new())).await?;
    Ok(store.vacuum().await?)
}

/// Fails: the program was built without a client.
#[cfg(not(feature = "postgres"))]
pub(super) async fn vacuum_server(_: &str) -> Result<(), Failure> {
    Err(no_client())
}

#[cfg(not(feature = "postgres"))]
async fn open_server(_: &str, _: Arc<dyn Clock>) -> Result<Arc<dyn UserDataStore>, Failure> {
    Err(no_client())
}

#[cfg(not(feature = "postgres"))]
fn no_client() -> Failure {
    Failure::usage(
        "this build has no client for PostgreSQL; build agcore-cli with the feature `postgres`, or name a file with --file",
    )
}
