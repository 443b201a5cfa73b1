//! The stores of a place, with boundaries at the writes of checkpoints.

use std::{env, sync::Arc};

use agcore_chat::{Actor, SystemClock};
use agcore_flow::Checkpoints;
use agcore_session::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey, SessionError, SessionStore};
use agcore_store::{StoreError, postgres::PostgresOptions, sqlite::SqliteStore};
use agcore_testkit::crash::{Boundaries, Database, Place, PostgresSchema};
use async_trait::async_trait;

/// The id of the run in its session.
pub(crate) const RUN: &str = "run";

/// The contracts of one store, which has everything of a place.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) sessions: Arc<dyn SessionStore>,
    pub(crate) checkpoints: Arc<dyn CheckpointStore>,
}

impl Stores {
    fn of(store: impl SessionStore + CheckpointStore + 'static) -> Self {
        let store = Arc::new(store);
        Self {
            sessions: store.clone(),
            checkpoints: store,
        }
    }

    /// Opens the store of a place.
    pub(crate) async fn open(place: &Place) -> Result<Self, StoreError> {
        let clock = Arc::new(SystemClock::new());
        Ok(match place.database() {
            Database::File(path) => Self::of(SqliteStore::open(path, clock).await?),
            Database::Postgres { url, schema } => {
                let options = PostgresOptions::new(url)?.with_schema(schema.as_str());
                Self::of(options.with_pool_size(2).open(clock).await?)
            }
            other => panic!("{other:?}"),
        })
    }

    /// Returns where the run of a place is saved, and creates it. Every write of a checkpoint has a boundary on both sides.
    pub(crate) async fn run(&self, place: &Place, owner: &Actor, boundaries: &Boundaries) -> Checkpoints {
        let name = place.name();
        let bounded = Arc::new(Bounded {
            inner: Arc::clone(&self.checkpoints),
            boundaries: boundaries.clone(),
        });
        Checkpoints::create_in(&*self.sessions, bounded, owner, &name, RUN)
            .await
            .unwrap()
    }
}

/// A store with a boundary before and after each write of a checkpoint.
#[derive(Debug)]
struct Bounded {
    inner: Arc<dyn CheckpointStore>,
    boundaries: Boundaries,
}

#[async_trait]
impl CheckpointStore for Bounded {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, SessionError> {
        self.boundaries.pass().await;
        let saved = self.inner.save_checkpoint(run, expected, checkpoint).await;
        self.boundaries.pass().await;
        saved
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, SessionError> {
        self.inner.checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, SessionError> {
        self.inner.trim_checkpoints(run, before).await
    }
}

/// Returns a schema on the server for tests, or reports that there is none.
pub(crate) fn need_server() -> Option<PostgresSchema> {
    let url = env::var("AGCORE_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable".to_owned());
    let schema = PostgresSchema::new(url);
    match block_on(Stores::open(&Place::in_schema(&schema))) {
        Ok(_) => Some(schema),
        Err(error) => {
            println!("skipped: postgres: {error}");
            None
        }
    }
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
