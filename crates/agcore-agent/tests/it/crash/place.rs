//! [`Place`]: where a task and its session are.

use std::{
    env,
    path::Path,
    process::{self, Command},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::SystemTime,
};

use agcore_chat::Clock;
use agcore_llm::SystemClock;
use agcore_memory::{
    Journal,
    session::{MessageFilter, MessageRole, SessionStatus, SessionStore, stream_of},
};
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteStore};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    Stored,
    task::{ANSWER, CALLS, SESSION},
};

/// The folder of a task, and the store of its session.
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

    /// Returns the id of the session: several tasks share a schema.
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

    pub(super) async fn open(&self) -> Arc<dyn SessionStore> {
        self.try_open().await.unwrap()
    }

    async fn try_open(&self) -> Result<Arc<dyn SessionStore>, agcore_memory::MemoryError> {
        let clock = Arc::new(SystemClock::new());
        Ok(match &self.database {
            Database::Sqlite => Arc::new(SqliteStore::open(self.folder().join("store.db"), clock).await?),
            Database::Postgres { url, schema } => {
                let options = PostgresOptions::new(url)?
                    .with_schema(schema.as_str())
                    .with_pool_size(2);
                Arc::new(options.open(clock).await?)
            }
        })
    }

    /// Returns what the store contains.
    pub(super) fn stored(&self) -> Stored {
        block_on(async {
            let store = self.open().await;
            let entries = store.read(&stream_of("local", &self.session()), 1).await.unwrap();
            let mut stored = Stored::default();
            let all = entries.iter().flat_map(|entry| {
                let is_helper = entry.record.kind == "sub_agent";
                outcomes(&entry.record.data).map(move |outcome| (is_helper, outcome))
            });
            for (is_helper, outcome) in all {
                let replies = if is_helper {
                    &mut stored.helper_replies
                } else {
                    &mut stored.replies
                };
                *replies += usize::from(outcome.get("reply").is_some());
                let done = outcome.get("tool").filter(|tool| tool["outcome"].get("done").is_some());
                stored
                    .results
                    .extend(done.and_then(|tool| tool["call"].as_str()).map(str::to_owned));
            }
            stored
        })
    }

    /// Checks that the conversation is the one of a process that was never killed, except for the results of calls that a person
    /// decided not to repeat.
    pub(super) fn check_result(&self, log: &[&str]) {
        let (session, messages) = block_on(async {
            let store = self.open().await;
            let session = store.get_session("local", &self.session()).await.unwrap().unwrap();
            let messages = store
                .messages("local", &self.session(), &MessageFilter::new())
                .await
                .unwrap();
            (session, messages)
        });
        assert_eq!(session.status, SessionStatus::Completed);
        assert_eq!(messages.last().unwrap().content, ANSWER);
        let inputs = messages
            .iter()
            .filter(|message| message.role == MessageRole::User)
            .count();
        let results: Vec<&str> = messages
            .iter()
            .filter(|message| message.role == MessageRole::Tool)
            .map(|message| message.content.as_str())
            .collect();
        assert_eq!((inputs, results.len()), (1, CALLS.len()), "{results:?}");
        for (id, tool) in CALLS {
            let was_asked = log.contains(&format!("asked {id}").as_str());
            let expected = format!("{tool} {id}");
            let found = results.contains(&expected.as_str());
            assert!(found || was_asked, "the result of {id} is missing: {results:?}");
        }
        let unknown = results.iter().filter(|result| result.contains("unknown")).count();
        let asked = log.iter().filter(|line| line.starts_with("asked ")).count();
        assert!(unknown <= asked, "{unknown} unknown results, {asked} questions");
    }
}

fn outcomes(data: &Value) -> impl Iterator<Item = &Value> {
    data["outcomes"]["outcomes"].as_array().into_iter().flatten()
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
