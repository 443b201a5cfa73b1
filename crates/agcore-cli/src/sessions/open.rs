//! Opens the database, or falls back to the memory of the process.

use std::{
    io::{self, Write},
    sync::Arc,
};

use agcore::{llm::SystemClock, memory::InMemoryStore, session::InMemorySessionStore};
use agcore_args::SessionArgs;
use agcore_settings::STORE;
use agcore_terminal::process::variable;

use super::{SessionKind, Sessions};

use crate::exit::Failure;

/// The name of the server for other programs that want to use its database or its sessions.
const SERVER: &str = "agcore serve";

impl Sessions {
    /// Opens the sessions for a chat. If the database cannot be used, a new chat continues without it, with a warning.
    ///
    /// # Errors
    /// When a session is to be continued, or the turn may be suspended, and the database cannot be used.
    pub(crate) async fn of_chat(args: &SessionArgs) -> Result<Self, Failure> {
        if args.ephemeral {
            return Ok(Self::in_memory());
        }
        let is_needed = args.continues_session() || args.suspend;
        match Self::open().await {
            Ok(sessions) => Ok(sessions),
            Err(failure) if is_needed => Err(failure),
            Err(failure) => {
                if has_place() {
                    // If standard error cannot be written, the chat still works.
                    let _ = writeln!(io::stderr(), "warning: this session is not kept: {failure}");
                }
                Ok(Self::in_memory())
            }
        }
    }

    /// Opens the sessions: in the database server that the environment names, else in the file of the program, which is created if
    /// it does not exist.
    ///
    /// # Errors
    /// When the database cannot be created, reached or read, or the program was built without one.
    pub(crate) async fn open() -> Result<Self, Failure> {
        Self::open_as("agcore").await
    }

    /// Like [`open`](Self::open), as a server, which is the only one that may use its database.
    ///
    /// # Errors
    /// As for [`open`](Self::open).
    pub(crate) async fn of_server() -> Result<Self, Failure> {
        Self::open_as(SERVER).await
    }

    /// Opens the database server of [`of_server`](Self::of_server) again, with connections of its own. Returns `None` for a file.
    ///
    /// # Errors
    /// When the server cannot be used.
    pub(crate) async fn of_server_again() -> Result<Option<Self>, Failure> {
        match variable(STORE) {
            Some(url) => Self::open_server(&url, SERVER, true).await.map(Some),
            None => Ok(None),
        }
    }

    async fn open_as(program: &str) -> Result<Self, Failure> {
        match variable(STORE) {
            Some(url) => Self::open_server(&url, program, false).await,
            None => Self::open_default(program).await,
        }
    }

    #[cfg(feature = "sqlite")]
    async fn open_default(program: &str) -> Result<Self, Failure> {
        use agcore::store::sqlite::SqliteOptions;

        use agcore_settings::places::{create_private_directory, create_private_file, database};

        let Some(path) = database() else {
            return Err(Failure::usage(
                "there is no directory in which to keep sessions: set HOME or XDG_STATE_HOME",
            ));
        };
        if let Some(directory) = path.parent() {
            create_private_directory(directory).map_err(|error| {
                Failure::task(format!("cannot create the directory {}: {error}", directory.display()))
            })?;
        }
        // SQLite gives its other files the same permissions.
        create_private_file(&path)
            .map_err(|error| Failure::task(format!("cannot create the database {}: {error}", path.display())))?;
        let store = SqliteOptions::new(path)
            .with_readers(1)
            .with_program(program)
            .open(clock())
            .await?;
        Ok(Self::of(store))
    }

    /// Opens a database server, and creates the tables if they do not exist. `directly` is whether a pooler that the URL names is
    /// left out.
    ///
    /// # Errors
    /// When the server cannot be used, or the program was built without a client for it.
    async fn open_server(url: &str, program: &str, directly: bool) -> Result<Self, Failure> {
        let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
        if !is_postgres {
            return Err(Failure::usage(
                "AGCORE_STORE must be a URL such as postgres://USER:PASSWORD@HOST/DATABASE",
            ));
        }
        #[cfg(feature = "postgres")]
        {
            let mut options = agcore::store::postgres::PostgresOptions::new(url)?.with_program(program);
            if directly {
                options = options.directly();
            }
            Ok(Self::of(options.open(clock()).await?))
        }
        #[cfg(not(feature = "postgres"))]
        let _ = directly;
        #[cfg(not(feature = "postgres"))]
        Err(Failure::usage(format!(
            "{program} was built without a client for PostgreSQL; build agcore-cli with the feature `postgres`, or unset AGCORE_STORE",
        )))
    }

    /// Opens the database in a file.
    ///
    /// # Errors
    /// When there is no such file, or it cannot be read.
    #[cfg(feature = "sqlite")]
    pub(crate) async fn open_file(file: &std::path::Path) -> Result<Self, Failure> {
        use agcore::store::sqlite::SqliteOptions;

        if !file.is_file() {
            return Err(Failure::usage(format!("there is no database {}", file.display())));
        }
        let store = SqliteOptions::new(file).with_readers(1).open(clock()).await?;
        Ok(Self::of(store))
    }

    /// Fails: the program was built without a database.
    #[cfg(not(feature = "sqlite"))]
    async fn open_default(_: &str) -> Result<Self, Failure> {
        Err(Failure::usage(
            "this build keeps no sessions; build agcore-cli with the feature `sqlite`",
        ))
    }

    fn in_memory() -> Self {
        let store = Arc::new(InMemorySessionStore::new(clock()));
        Self {
            checkpoints: Arc::clone(&store) as _,
            store,
            memory: Arc::new(InMemoryStore::new(clock())),
            user_data: None,
            #[cfg(feature = "serve")]
            schedules: None,
            #[cfg(feature = "serve")]
            webhooks: None,
            #[cfg(feature = "serve")]
            quotas: None,
            is_kept: false,
            kind: SessionKind::Any,
            is_single: false,
            flow_options: None,
        }
    }

    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    fn of(store: impl agcore::store::user_data::UserDataStore + 'static) -> Self {
        let store = Arc::new(store);
        Self {
            checkpoints: Arc::clone(&store) as _,
            memory: Arc::clone(&store) as _,
            user_data: Some(Arc::clone(&store) as _),
            #[cfg(feature = "serve")]
            schedules: Some(Arc::clone(&store) as _),
            #[cfg(feature = "serve")]
            webhooks: Some(Arc::clone(&store) as _),
            #[cfg(feature = "serve")]
            quotas: Some(Arc::clone(&store) as _),
            store,
            is_kept: true,
            kind: SessionKind::Any,
            is_single: false,
            flow_options: None,
        }
    }
}

/// Returns whether there should be a database.
fn has_place() -> bool {
    variable(STORE).is_some() || (cfg!(feature = "sqlite") && agcore_settings::places::database().is_some())
}

fn clock() -> Arc<SystemClock> {
    Arc::new(SystemClock::new())
}
