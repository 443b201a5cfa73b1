//! PostgreSQL: the conformance suites, and what only a server can do.

mod announcements;
mod erasure;
mod faults;
mod holds;
mod indexes;
mod killed;
mod opening;
mod pgvector;
mod pooler;
mod proxy;
mod quotas;
mod rules;
mod server;
mod webhooks;

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
use agcore_store::{postgres::PostgresStore, user_data::UserDataStore};
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

use self::server::{Names, Schemas};

/// Opens each store in an empty schema.
#[derive(Default)]
struct Postgres(Schemas);

/// Opens each index in a schema of its own, which is dropped at the end: indexes create tables.
#[derive(Default)]
struct Indexes(Names);

#[async_trait]
impl StoreSubject for Indexes {
    async fn unavailable(&self) -> Option<String> {
        server::missing().await
    }
}

#[async_trait]
impl StoreSubject for Postgres {
    async fn unavailable(&self) -> Option<String> {
        server::missing().await
    }
}

#[async_trait]
impl MemoryStoreSubject for Postgres {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        Arc::new(
            self.0
                .options()
                .await
                .with_eviction(eviction)
                .open(clock)
                .await
                .unwrap(),
        )
    }
}

#[async_trait]
impl JournalSubject for Postgres {
    async fn journal(&self) -> Arc<dyn Journal> {
        Arc::new(self.0.options().await.open(Arc::new(ManualClock::new())).await.unwrap())
    }
}

#[async_trait]
impl SessionStoreSubject for Postgres {
    async fn session_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SessionStore> {
        Arc::new(self.0.options().await.open(clock).await.unwrap())
    }

    async fn session_store_twice(&self, clock: Arc<dyn Clock>) -> [Arc<dyn SessionStore>; 2] {
        let options = self.0.options().await;
        let first = options.clone().open(Arc::clone(&clock)).await.unwrap();
        [Arc::new(first), Arc::new(options.open(clock).await.unwrap())]
    }
}

#[async_trait]
impl CheckpointStoreSubject for Postgres {
    async fn checkpoint_store(&self, clock: Arc<dyn Clock>) -> (Arc<dyn SessionStore>, Arc<dyn CheckpointStore>) {
        let store = Arc::new(self.0.options().await.open(clock).await.unwrap());
        (Arc::clone(&store) as _, store)
    }
}

#[async_trait]
impl KnowledgeStoreSubject for Postgres {
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore> {
        Arc::new(self.0.options().await.open(clock).await.unwrap())
    }
}

#[async_trait]
impl SourceStoreSubject for Postgres {
    async fn source_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SourceStore> {
        Arc::new(self.0.options().await.open(clock).await.unwrap())
    }
}

#[async_trait]
impl KnowledgeGraphSubject for Postgres {
    async fn knowledge_graph(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeGraph> {
        Arc::new(self.0.options().await.open(clock).await.unwrap())
    }
}

#[async_trait]
impl UserDataSubject for Postgres {
    async fn user_data_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn UserDataStore> {
        Arc::new(self.0.options().await.open(clock).await.unwrap())
    }
}

#[async_trait]
impl TextIndexSubject for Indexes {
    async fn text_index(&self) -> Arc<dyn TextIndex> {
        let store = self.0.options().open(Arc::new(ManualClock::new())).await.unwrap();
        Arc::new(store.text_index())
    }
}

#[async_trait]
impl VectorIndexSubject for Indexes {
    async fn vector_index(&self) -> Arc<dyn VectorIndex> {
        // The tests of the suite run with the extension where there is one.
        server::create_vector_extension().await;
        let store = self.0.options().open(Arc::new(ManualClock::new())).await.unwrap();
        Arc::new(store.vector_index("model"))
    }
}

/// Opens one schema twice. The time of the server cannot be moved, so that the times in its tables are.
#[derive(Default)]
struct Leases(Schemas, Mutex<String>);

impl Leases {
    async fn open_twice(&self) -> [Arc<PostgresStore>; 2] {
        let name = self.0.take().await;
        let options = server::options_of(&server::url(), &name);
        *self.1.lock().unwrap_or_else(PoisonError::into_inner) = name;
        // A clock that is wrong: the time is that of the server.
        let clock = Arc::new(ManualClock::new());
        let first = options.clone().open(Arc::clone(&clock) as _).await.unwrap();
        [Arc::new(first), Arc::new(options.open(clock).await.unwrap())]
    }
}

#[async_trait]
impl StoreSubject for Leases {
    async fn unavailable(&self) -> Option<String> {
        server::missing().await
    }
}

#[async_trait]
impl RunLeasesSubject for Leases {
    async fn lease_stores(&self) -> [Arc<dyn LeaseStore>; 2] {
        self.open_twice().await.map(|store| store as _)
    }

    async fn pass(&self, duration: Duration) {
        let schema = self.1.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let times = [
            "queued_at",
            "not_before",
            "lease_until",
            "cancel_requested_at",
            "dead_at",
        ];
        let earlier = times.map(|time| format!("{time} = {time} - {}", duration.as_millis()));
        server::admin(&format!("UPDATE {schema}.runs SET {}", earlier.join(", "))).await;
        let times = ["since", "reported_at", "until", "drain_requested_at"];
        let earlier = times.map(|time| format!("{time} = {time} - {}", duration.as_millis()));
        server::admin(&format!("UPDATE {schema}.run_workers SET {}", earlier.join(", "))).await;
    }
}

#[async_trait]
impl ScheduleStoreSubject for Leases {
    async fn schedule_stores(&self) -> [Arc<dyn ScheduleStore>; 2] {
        self.open_twice().await.map(|store| store as _)
    }

    async fn pass(&self, duration: Duration) {
        let schema = self.1.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let millis = duration.as_millis();
        server::admin(&format!("UPDATE {schema}.schedules SET next_at = next_at - {millis}")).await;
    }
}

#[async_trait]
impl QuotaStoreSubject for Leases {
    async fn quota_stores(&self) -> [Arc<dyn QuotaStore>; 2] {
        self.open_twice().await.map(|store| store as _)
    }

    async fn pass(&self, duration: Duration) {
        let schema = self.1.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let millis = duration.as_millis();
        let windows = "CASE window_name WHEN 'minute' THEN 60000 WHEN 'hour' THEN 3600000 WHEN 'day' THEN 86400000
                       ELSE 31 * 86400000::bigint END";
        server::admin(&format!(
            "UPDATE {schema}.quota_allowances SET expires_at = expires_at - {millis};
             UPDATE {schema}.quota_usage SET start_at = start_at - {millis} / ({windows}) * ({windows})"
        ))
        .await;
    }
}

#[async_trait]
impl WebhookStoreSubject for Leases {
    async fn webhook_stores(&self) -> [(Arc<dyn SessionStore>, Arc<dyn WebhookStore>); 2] {
        let stores = self.open_twice().await;
        stores.map(|store| (Arc::clone(&store) as _, store as _))
    }

    async fn pass(&self, duration: Duration) {
        RunLeasesSubject::pass(self, duration).await;
        let schema = self.1.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let earlier = ["next_at", "held_until"].map(|time| format!("{time} = {time} - {}", duration.as_millis()));
        let set = earlier.join(", ");
        server::admin(&format!("UPDATE {schema}.webhook_deliveries SET {set}")).await;
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
    agcore_testkit::memory_store_tests!(super::Postgres::default());
}

mod journal {
    agcore_testkit::journal_tests!(super::Postgres::default());
}

mod session_store {
    agcore_testkit::session_store_tests!(super::Postgres::default());
}

mod checkpoints {
    agcore_testkit::checkpoint_tests!(super::Postgres::default());
}

mod knowledge_store {
    agcore_testkit::knowledge_store_tests!(super::Postgres::default());
}

mod source_store {
    agcore_testkit::source_store_tests!(super::Postgres::default());
}

mod text_index {
    agcore_testkit::text_index_tests!(super::Indexes::default());
}

mod user_data {
    agcore_testkit::user_data_tests!(super::Postgres::default());
}

mod vector_index {
    agcore_testkit::vector_index_tests!(super::Indexes::default());
}

mod knowledge_graph {
    agcore_testkit::knowledge_graph_tests!(super::Postgres::default());
}

mod memory_store_faults {
    agcore_testkit::memory_store_fault_tests!(super::Postgres::default());
}

mod journal_faults {
    agcore_testkit::journal_fault_tests!(super::Postgres::default());
}
