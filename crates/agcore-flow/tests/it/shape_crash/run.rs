//! The run that processes are killed in: a flow file, whose agents have sessions in the store of the run.

use std::sync::Arc;

use agcore_agent::AgentBuilder;
use agcore_chat::{Actor, ChatRequest, SystemClock, ToolAnnotations};
use agcore_flow::{Checkpoints, FileFlow, FlowFile, FlowRequest, StoredMemory};
use agcore_llm::provider_fn;
use agcore_memory::{
    Checkpoint, CheckpointStore, MemoryError, MemoryFilter, MemoryStore, NewCheckpoint, RunKey,
    session::{SessionFilter, SessionStore},
};
use agcore_store::{
    postgres::{PostgresOptions, PostgresStore},
    sqlite::SqliteStore,
};
use agcore_testkit::crash::{Boundaries, Database, Place};
use agcore_tools::{
    schemars::{self, JsonSchema},
    typed,
};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use super::model::reply;

/// Everything that a run stores is in one database.
pub(super) trait Stores: SessionStore + CheckpointStore + MemoryStore + 'static {}

impl<T: SessionStore + CheckpointStore + MemoryStore + 'static> Stores for T {}

/// A store with a boundary before and after each write of a checkpoint.
#[derive(Debug)]
struct Bounded<S> {
    inner: Arc<S>,
    boundaries: Boundaries,
}

#[async_trait]
impl<S: Stores> CheckpointStore for Bounded<S> {
    async fn save_checkpoint(
        &self,
        run: RunKey<'_>,
        expected: u64,
        checkpoint: NewCheckpoint,
    ) -> Result<u64, MemoryError> {
        self.boundaries.pass().await;
        let saved = self.inner.save_checkpoint(run, expected, checkpoint).await;
        self.boundaries.pass().await;
        saved
    }

    async fn latest_checkpoints(&self, run: RunKey<'_>) -> Result<Vec<Checkpoint>, MemoryError> {
        self.inner.latest_checkpoints(run).await
    }

    async fn checkpoints(&self, run: RunKey<'_>, from: u64) -> Result<Vec<Checkpoint>, MemoryError> {
        self.inner.checkpoints(run, from).await
    }

    async fn trim_checkpoints(&self, run: RunKey<'_>, before: u64) -> Result<u64, MemoryError> {
        self.inner.trim_checkpoints(run, before).await
    }
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "schemars")]
struct Work {
    number: usize,
}

fn clock() -> Arc<SystemClock> {
    Arc::new(SystemClock::new())
}

/// Returns the owner of everything in a run: places in a schema share its tables.
fn owner(place: &Place) -> Actor {
    Actor::new(place.name(), "user")
}

async fn sqlite(path: &std::path::Path) -> Arc<SqliteStore> {
    Arc::new(SqliteStore::open(path, clock()).await.unwrap())
}

async fn postgres(url: &str, schema: &str) -> Arc<PostgresStore> {
    let options = PostgresOptions::new(url).unwrap().with_schema(schema);
    Arc::new(options.with_pool_size(2).open(clock()).await.unwrap())
}

/// Continues the run of a flow file, or begins it. Returns its final state.
pub(super) async fn run(place: &Place, file: &str, boundaries: &Boundaries) -> Value {
    match place.database() {
        Database::File(path) => run_in(sqlite(path).await, place, file, boundaries).await,
        Database::Postgres { url, schema } => run_in(postgres(url, schema).await, place, file, boundaries).await,
        other => panic!("{other:?}"),
    }
}

/// Returns everything that the run has stored, as text.
pub(super) async fn stored(place: &Place) -> String {
    match place.database() {
        Database::File(path) => contents(&*sqlite(path).await, place).await,
        Database::Postgres { url, schema } => contents(&*postgres(url, schema).await, place).await,
        other => panic!("{other:?}"),
    }
}

async fn contents<S: Stores>(store: &S, place: &Place) -> String {
    let owner = owner(place);
    let mut text = String::new();
    let filter = SessionFilter::owned_by(owner.clone()).with_limit(1000);
    for session in store.sessions(&filter).await.unwrap() {
        text += &format!("{:?}", store.read(&session.stream(), 1).await.unwrap());
    }
    let name = place.name();
    let run = RunKey::new(&owner.tenant, &name, "run");
    // There is no run before its session exists.
    for checkpoint in store.checkpoints(run, 0).await.unwrap_or_default() {
        text += &checkpoint.data.to_string();
    }
    text
}

async fn run_in<S: Stores>(store: Arc<S>, place: &Place, file: &str, boundaries: &Boundaries) -> Value {
    let (name, owner) = (place.name(), owner(place));
    Checkpoints::create(Arc::clone(&store), &owner, &name, "run")
        .await
        .unwrap();
    let bounded = Bounded {
        inner: Arc::clone(&store),
        boundaries: boundaries.clone(),
    };
    let checkpoints = Checkpoints::new(Arc::new(bounded), owner.tenant.as_str(), name.as_str(), "run");
    let memory = StoredMemory::new(Arc::clone(&store) as Arc<dyn MemoryStore>, owner.clone());
    let flow = FileFlow::builder(
        FlowFile::parse("shape.flow.yaml", file, |_| Err(String::new())).unwrap(),
        bundle(place, &store, boundaries),
    );
    let flow = flow.with_actor(owner.clone()).with_memory(memory);
    let flow = flow.build(SystemClock::new()).unwrap();
    let request = FlowRequest::new("Begin").with_conversation("talk");
    let result = flow.start(request).with_checkpoints(checkpoints).await.unwrap();
    // Notes are kept once, however often the node that keeps them began.
    let notes = MemoryFilter::owned_by(owner).with_limit(100);
    let mut notes: Vec<String> = store
        .list(&notes)
        .await
        .unwrap()
        .into_iter()
        .map(|item| item.id)
        .collect();
    notes.sort();
    serde_json::json!({"answer": result.answer, "state": result.state, "notes": notes})
}

fn bundle<S: Stores>(place: &Place, store: &Arc<S>, boundaries: &Boundaries) -> agcore_agent::RuntimeBundle {
    let at = boundaries.clone();
    let model = provider_fn(move |call| {
        let at = at.clone();
        async move {
            at.pass().await;
            let ChatRequest { messages, .. } = &*call.request;
            Ok(reply(messages))
        }
    });
    let (log, at) = (place.log(), boundaries.clone());
    let tool = typed("work", "Works.", move |work: Work| {
        let (log, at) = (log.clone(), at.clone());
        async move {
            at.pass().await;
            log.add(&format!("call {}", work.number));
            at.pass().await;
            Ok(format!("result of {}", work.number))
        }
    });
    let tool = tool.with_annotations(ToolAnnotations::new().with_idempotent(true));
    let builder = AgentBuilder::new().with_provider(model).with_tool(tool);
    let sessions = Arc::clone(store) as Arc<dyn SessionStore>;
    builder.with_session_store(sessions).build().unwrap()
}
