//! [`Place`]: where a run and its log are.

use std::{
    collections::HashSet,
    env,
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    process::{self, Command},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::SystemTime,
};

use agcore_chat::{Actor, Clock, SystemClock};
use agcore_flow::Checkpoints;
use agcore_memory::{CheckpointStore, MemoryError, RunKey};
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteStore};
use serde_json::Value;
use tempfile::TempDir;

use super::job::State;

pub(super) const SESSION: &str = "session";
pub(super) const RUN: &str = "run";

/// The folder of a run with its log, and the store of its checkpoints.
pub(super) struct Place {
    folder: Folder,
    database: Database,
}

enum Folder {
    Own(TempDir),
    Given(String),
}

enum Database {
    /// A file in the folder.
    Sqlite,
    /// A schema of a server.
    Postgres { url: String, schema: String },
}

/// A schema for the tests of this process.
pub(super) struct Server {
    url: String,
    schema: String,
}

/// Returns a schema on the server for tests, or reports that there is none.
pub(super) fn server() -> Option<Server> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let url = url();
    let seconds = SystemClock::new()
        .now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_secs();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    // Tests of the store remove what killed tests with this prefix have left.
    let schema = format!("agcore_test_{seconds}_{}_{number}", process::id());
    let server = Server { url, schema };
    let place = Place::postgres(&server);
    let opened = block_on(async { place.try_open().await.map(drop) });
    match opened {
        Ok(()) => Some(server),
        Err(error) => {
            println!("skipped: postgres: {error}");
            None
        }
    }
}

fn url() -> String {
    env::var("AGCORE_TEST_POSTGRES_URL").unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        // Without the program, the tests of the store remove the schema later.
        let drop = format!("drop schema if exists {} cascade", self.schema);
        let _ = Command::new("psql").args([&self.url, "-qc", &drop]).output();
    }
}

impl Place {
    pub(super) fn sqlite() -> Self {
        Self {
            folder: Folder::Own(tempfile::tempdir().unwrap()),
            database: Database::Sqlite,
        }
    }

    pub(super) fn postgres(server: &Server) -> Self {
        let Server { url, schema } = server;
        Self {
            folder: Folder::Own(tempfile::tempdir().unwrap()),
            database: Database::Postgres {
                url: url.clone(),
                schema: schema.clone(),
            },
        }
    }

    pub(super) fn folder(&self) -> &Path {
        match &self.folder {
            Folder::Own(folder) => folder.path(),
            Folder::Given(folder) => Path::new(folder),
        }
    }

    /// Returns the id of the session: several runs share a schema.
    pub(super) fn session(&self) -> String {
        let folder = self.folder().file_name().unwrap_or_default();
        format!("{SESSION}-{}", folder.to_string_lossy())
    }

    /// Returns the place as text for another process.
    pub(super) fn to_text(&self) -> String {
        let folder = self.folder().display();
        match &self.database {
            Database::Sqlite => folder.to_string(),
            Database::Postgres { url, schema } => format!("{folder}\n{url}\n{schema}"),
        }
    }

    pub(super) fn from_text(text: &str) -> Self {
        let mut lines = text.lines().map(str::to_owned);
        let folder = Folder::Given(lines.next().unwrap());
        let database = match (lines.next(), lines.next()) {
            (Some(url), Some(schema)) => Database::Postgres { url, schema },
            _ => Database::Sqlite,
        };
        Self { folder, database }
    }

    /// Opens the store, and creates the session and the run in it.
    pub(super) async fn open(&self) -> Arc<dyn CheckpointStore> {
        self.try_open().await.unwrap()
    }

    async fn try_open(&self) -> Result<Arc<dyn CheckpointStore>, MemoryError> {
        let clock = Arc::new(SystemClock::new());
        let session = self.session();
        let owner = Actor::local();
        Ok(match &self.database {
            Database::Sqlite => {
                let store = Arc::new(SqliteStore::open(self.folder().join("store.db"), clock).await?);
                Checkpoints::create(Arc::clone(&store), &owner, &session, RUN)
                    .await
                    .unwrap();
                store
            }
            Database::Postgres { url, schema } => {
                let options = PostgresOptions::new(url)?
                    .with_schema(schema.as_str())
                    .with_pool_size(2);
                let store = Arc::new(options.open(clock).await?);
                Checkpoints::create(Arc::clone(&store), &owner, &session, RUN)
                    .await
                    .unwrap();
                store
            }
        })
    }

    /// Returns the calls whose results are stored, and the state if the run has ended.
    pub(super) fn stored(&self) -> (HashSet<String>, Option<State>) {
        block_on(async {
            let store = self.open().await;
            let key = self.session();
            let all = store.checkpoints(RunKey::new("local", &key, RUN), 0).await.unwrap();
            let mut calls = HashSet::new();
            for checkpoint in &all {
                collect(&checkpoint.data, &mut calls);
            }
            let has_ended = all.last().is_some_and(|last| {
                last.data["record"]["node"] == "sub" && last.data["record"]["next"] == serde_json::json!(["end"])
            });
            let mut state = None;
            if has_ended {
                let checkpoints = Checkpoints::new(store, "local", key.as_str(), RUN);
                let last = checkpoints.last().await.unwrap();
                state = super::job::state_at(checkpoints, last).await;
            }
            (calls, state)
        })
    }

    /// Adds a line to the log.
    pub(super) fn log(&self, line: &str) {
        append(self.folder(), line);
    }

    pub(super) fn read_log(&self) -> String {
        fs::read_to_string(self.folder().join("log")).unwrap()
    }
}

/// Adds a line to the log in a folder.
pub(super) fn append(folder: &Path, line: &str) {
    let mut options = OpenOptions::new();
    let mut file = options.create(true).append(true).open(folder.join("log")).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

/// Collects the names of all calls whose results occur in a checkpoint.
fn collect(data: &Value, calls: &mut HashSet<String>) {
    match data {
        Value::String(text) => calls.extend(text.strip_prefix("result of ").map(str::to_owned)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, calls)),
        Value::Object(members) => members.values().for_each(|item| collect(item, calls)),
        _ => {}
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
