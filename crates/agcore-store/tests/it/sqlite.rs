mod child;
mod files;
mod holds;
mod indexes;
mod knowledge;
mod kill;
mod processes;
mod quotas;
mod tables;
mod webhooks;
mod maintenance;

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agcore_memory::{
    EvictionConfig, MemoryStore,
    graph::KnowledgeGraph,
    knowledge::{KnowledgeStore, SourceStore},
    search::{TextIndex, VectorIndex},
};
use agcore_schedule::ScheduleStore;
use agcore_session::{CheckpointStore, Clock, Journal, SessionStore, quota::QuotaStore};
use agcore_store::{sqlite::SqliteOptions, user_data::UserDataStore};
use agcore_testkit::{
    clock::ManualClock,
    stores::{
        CheckpointStoreSubject, JournalSubject, KnowledgeGraphSubject, KnowledgeStoreSubject, LeaseStore,
        MemoryStoreSubject, QuotaStoreSubject, RunLeasesSubject, ScheduleStoreSubject, SessionStoreSubject,
        SourceStoreSubject, StoreSubject, TextIndexSubject, UserDataSubject, VectorIndexSubject, WebhookStoreSubject,
    },
};
use agcore_webhook::WebhookStore;
use async_trait::async_trait;
use tempfile::TempDir;

/// Opens each store in a directory of its own, which is removed at the end.
#[derive(Default)]
struct Sqlite(Mutex<Vec<TempDir>>);

impl Sqlite {
    fn options(&self) -> SqliteOptions {
        let directory = tempfile::tempdir().unwrap();
        let options = SqliteOptions::new(directory.path().join("agcore.db"));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(directory);
        options
    }
}

impl StoreSubject for Sqlite {}

#[async_trait]
impl MemoryStoreSubject for Sqlite {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        Arc::new(self.options().with_eviction(eviction).open(clock).await.unwrap())
    }
}

#[async_trait]
impl JournalSubject for Sqlite {
    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(self.options().open(Arc::new(ManualClock::new())).await.unwrap())
    }
}

#[async_trait]
impl SessionStoreSubject for Sqlite {
    async fn session_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SessionStore> {
        Arc::new(self.options().open(clock).await.unwrap())
    }

    async fn session_store_twice(&self, clock: Arc<dyn Clock>) -> [Arc<dyn SessionStore>; 2] {
        let options = self.options();
        let first = options.clone().open(Arc::clone(&clock)).await.unwrap();
        [Arc::new(first), Arc::new(options.open(clock).await.unwrap())]
    }
}

#[async_trait]
impl CheckpointStoreSubject for Sqlite {
    async fn checkpoint_store(&self, clock: Arc<dyn Clock>) -> (Arc<dyn SessionStore>, Arc<dyn CheckpointStore>) {
        let store = Arc::new(self.options().open(clock).await.unwrap());
        (Arc::clone(&store) as _, store)
    }
}

#[async_trait]
impl KnowledgeStoreSubject for Sqlite {
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore> {
        Arc::new(self.options().open(clock).await.unwrap())
    }
}

#[async_trait]
impl SourceStoreSubject for Sqlite {
    async fn source_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SourceStore> {
        Arc::new(self.options().open(clock).await.unwrap())
    }
}

#[async_trait]
impl KnowledgeGraphSubject for Sqlite {
    async fn knowledge_graph(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeGraph> {
        Arc::new(self.options().open(clock).await.unwrap())
    }
}

#[async_trait]
impl UserDataSubject for Sqlite {
    async fn user_data_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn UserDataStore> {
        Arc::new(self.options().open(clock).await.unwrap())
    }
}

#[async_trait]
impl TextIndexSubject for Sqlite {
    async fn text_index(&self) -> Arc<dyn TextIndex> {
        let store = self.options().open(Arc::new(ManualClock::new())).await.unwrap();
        Arc::new(store.text_index())
    }
}

#[async_trait]
impl VectorIndexSubject for Sqlite {
    async fn vector_index(&self) -> Arc<dyn VectorIndex> {
        let store = self.options().open(Arc::new(ManualClock::new())).await.unwrap();
        Arc::new(store.vector_index("model"))
    }
}

/// Opens one file twice, with a clock that it moves.
#[derive(Default)]
struct Leases(Sqlite, Arc<ManualClock>);

impl StoreSubject for Leases {}

#[async_trait]
impl RunLeasesSubject for Leases {
    async fn lease_stores(&self) -> [Arc<dyn LeaseStore>; 2] {
        let options = self.0.options();
        let first = options.clone().open(Arc::clone(&self.1) as _).await.unwrap();
        [
            Arc::new(first),
            Arc::new(options.open(Arc::clone(&self.1) as _).await.unwrap()),
        ]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

#[async_trait]
impl ScheduleStoreSubject for Leases {
    async fn schedule_stores(&self) -> [Arc<dyn ScheduleStore>; 2] {
        let options = self.0.options();
        let first = options.clone().open(Arc::clone(&self.1) as _).await.unwrap();
        [
            Arc::new(first),
            Arc::new(options.open(Arc::clone(&self.1) as _).await.unwrap()),
        ]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

#[async_trait]
impl QuotaStoreSubject for Leases {
    async fn quota_stores(&self) -> [Arc<dyn QuotaStore>; 2] {
        let options = self.0.options();
        let first = options.clone().open(Arc::clone(&self.1) as _).await.unwrap();
        let second = options.open(Arc::clone(&self.1) as _).await.unwrap();
        [Arc::new(first), Arc::new(second)]
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

#[async_trait]
impl WebhookStoreSubject for Leases {
    async fn webhook_stores(&self) -> [(Arc<dyn SessionStore>, Arc<dyn WebhookStore>); 2] {
        let options = self.0.options();
        let first = options.clone().open(Arc::clone(&self.1) as _).await.unwrap();
        let second = options.open(Arc::clone(&self.1) as _).await.unwrap();
        [first, second].map(|store| (Arc::new(store.clone()) as _, Arc::new(store) as _))
    }

    async fn pass(&self, duration: Duration) {
        self.1.advance(duration);
    }
}

mod webhook_store {
    agcore_testkit::webhook_store_tests!(super::Leases::default());
}

mod quota_store {
    agcore_testkit::quota_store_tests!(super::Leases::default());
}

mod schedule_store {
    agcore_testkit::schedule_store_tests!(super::Leases::default());
}

mod run_leases {
    agcore_testkit::run_leases_tests!(super::Leases::default());
}

mod memory_store {
    agcore_testkit::memory_store_tests!(super::Sqlite::default());
}

mod journal {
    agcore_testkit::journal_tests!(super::Sqlite::default());
}

mod session_store {
    agcore_testkit::session_store_tests!(super::Sqlite::default());
}

mod checkpoints {
    agcore_testkit::checkpoint_tests!(super::Sqlite::default());
}

mod knowledge_store {
    agcore_testkit::knowledge_store_tests!(super::Sqlite::default());
}

mod source_store {
    agcore_testkit::source_store_tests!(super::Sqlite::default());
}

mod knowledge_graph {
    agcore_testkit::knowledge_graph_tests!(super::Sqlite::default());
}

mod text_index {
    agcore_testkit::text_index_tests!(super::Sqlite::default());
}

mod user_data {
    agcore_testkit::user_data_tests!(super::Sqlite::default());
}

mod vector_index {
    agcore_testkit::vector_index_tests!(super::Sqlite::default());
}

mod memory_store_faults {
    agcore_testkit::memory_store_fault_tests!(super::Sqlite::default());
}

mod journal_faults {
    agcore_testkit::journal_fault_tests!(super::Sqlite::default());
}
