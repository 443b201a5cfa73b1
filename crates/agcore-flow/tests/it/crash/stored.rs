//! The store of a run, and what it contains.

use std::{collections::HashSet, env, sync::Arc};

use agcore_chat::{Actor, SystemClock};
use agcore_flow::Checkpoints;
use agcore_memory::{CheckpointStore, MemoryError, RunKey};
use agcore_store::{postgres::PostgresOptions, sqlite::SqliteStore};
use agcore_testkit::crash::{Database, Place, PostgresSchema};
use serde_json::Value;

use super::run::{State, state_at};

pub(super) const RUN: &str = "run";

/// Returns a schema on the server for tests, or reports that there is none.
pub(crate) fn need_server() -> Option<PostgresSchema> {
    let url = env::var("AGCORE_TEST_POSTGRES_URL")
        .unwrap_or_else(|_| "postgres://postgres@127.0.0.1:5432/postgres".to_owned());
    let schema = PostgresSchema::new(url);
    match block_on(try_open(&Place::in_schema(&schema))) {
        Ok(_) => Some(schema),
        Err(error) => {
            println!("skipped: postgres: {error}");
            None
        }
    }
}

/// Opens the store, and creates the session and the run in it.
pub(super) async fn open(place: &Place) -> Arc<dyn CheckpointStore> {
    try_open(place).await.unwrap()
}

async fn try_open(place: &Place) -> Result<Arc<dyn CheckpointStore>, MemoryError> {
    let clock = Arc::new(SystemClock::new());
    let session = place.name();
    let owner = Actor::local();
    Ok(match place.database() {
        Database::File(path) => {
            let store = Arc::new(SqliteStore::open(path, clock).await?);
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
        other => panic!("{other:?}"),
    })
}

/// Returns the calls whose results are stored, and the state if the run has ended.
pub(super) fn stored(place: &Place) -> (HashSet<String>, Option<State>) {
    block_on(async {
        let store = open(place).await;
        let key = place.name();
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
            state = state_at(place, checkpoints, last).await;
        }
        (calls, state)
    })
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

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}
