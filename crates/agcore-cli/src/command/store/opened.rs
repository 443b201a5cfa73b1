//! [`Opened`]: the database of the program or of a server, with everything that it keeps of users.

use std::{path::Path, sync::Arc};

use agcore::{
    chat::{Clock, SystemClock},
    memory::{Journal, user_data::UserDataStore},
};

use super::super::database::Database;
use crate::{args::FileArgs, exit::Failure, process::variable, sessions::STORE};

/// An open database.
pub(super) struct Opened {
    pub(super) store: Arc<dyn UserDataStore>,
    pub(super) clock: Arc<dyn Clock>,
    /// The database, as shown to people and programs.
    pub(super) name: String,
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

#[cfg(not(feature = "postgres"))]
async fn open_server(_: &str, _: Arc<dyn Clock>) -> Result<Arc<dyn UserDataStore>, Failure> {
    Err(Failure::usage(
        "this build has no client for PostgreSQL; build agcore-cli with the feature `postgres`, or name a file with --file",
    ))
}
