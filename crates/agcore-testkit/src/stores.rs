//! Conformance suites for stores: what every [`MemoryStore`], [`Journal`], [`SessionStore`], [`CheckpointStore`],
//! [`RunLeases`], [`QuotaStore`], [`ScheduleStore`], [`WebhookStore`], [`KnowledgeStore`], [`SourceStore`], [`KnowledgeGraph`],
//! [`TextIndex`], [`VectorIndex`] and [`UserDataStore`] must do, checked on yours.
//!
//! Implement [`StoreSubject`] and the trait of each contract that your store implements, then let a macro make one test of each
//! behavior:
//!
//! | contract | trait | macro |
//! |---|---|---|
//! | [`MemoryStore`] | [`MemoryStoreSubject`] | [`memory_store_tests!`](crate::memory_store_tests) |
//! | [`Journal`] | [`JournalSubject`] | [`journal_tests!`](crate::journal_tests) |
//! | [`SessionStore`] | [`SessionStoreSubject`] | [`session_store_tests!`](crate::session_store_tests) |
//! | [`CheckpointStore`] | [`CheckpointStoreSubject`] | [`checkpoint_tests!`](crate::checkpoint_tests) |
//! | [`RunLeases`] | [`RunLeasesSubject`] | [`run_leases_tests!`](crate::run_leases_tests) |
//! | [`QuotaStore`] | [`QuotaStoreSubject`] | [`quota_store_tests!`](crate::quota_store_tests) |
//! | [`ScheduleStore`] | [`ScheduleStoreSubject`] | [`schedule_store_tests!`](crate::schedule_store_tests) |
//! | [`WebhookStore`] | [`WebhookStoreSubject`] | [`webhook_store_tests!`](crate::webhook_store_tests) |
//! | [`KnowledgeStore`] | [`KnowledgeStoreSubject`] | [`knowledge_store_tests!`](crate::knowledge_store_tests) |
//! | [`SourceStore`] | [`SourceStoreSubject`] | [`source_store_tests!`](crate::source_store_tests) |
//! | [`KnowledgeGraph`] | [`KnowledgeGraphSubject`] | [`knowledge_graph_tests!`](crate::knowledge_graph_tests) |
//! | [`TextIndex`] | [`TextIndexSubject`] | [`text_index_tests!`](crate::text_index_tests) |
//! | [`VectorIndex`] | [`VectorIndexSubject`] | [`vector_index_tests!`](crate::vector_index_tests) |
//! | [`UserDataStore`] | [`UserDataSubject`] | [`user_data_tests!`](crate::user_data_tests) |
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_memory::{EvictionConfig, InMemoryStore, MemoryStore};
//! use agcore_session::{Clock, InMemoryJournal, Journal};
//! use agcore_testkit::stores::{JournalSubject, MemoryStoreSubject, StoreSubject};
//! use async_trait::async_trait;
//!
//! struct InMemory;
//!
//! impl StoreSubject for InMemory {}
//!
//! #[async_trait]
//! impl MemoryStoreSubject for InMemory {
//!     async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
//!         Arc::new(InMemoryStore::new(clock).with_eviction(eviction))
//!     }
//! }
//!
//! #[async_trait]
//! impl JournalSubject for InMemory {
//!     async fn journal(&self) -> Arc<dyn Journal> {
//!         Arc::new(InMemoryJournal::new())
//!     }
//! }
//!
//! mod memory_store {
//!     agcore_testkit::memory_store_tests!(super::InMemory);
//! }
//! mod journal {
//!     agcore_testkit::journal_tests!(super::InMemory);
//! }
//! # fn main() {}
//! ```
//!
//! A failed check panics with the reason.
//!
//! [`memory_store_fault_tests!`](crate::memory_store_fault_tests) and [`journal_fault_tests!`](crate::journal_fault_tests) check
//! stores whose calls go wrong, with the wrapper [`FaultyStore`](faulty::FaultyStore), which also tests programs that use stores.
//! Lists such as [`JOURNAL`] contain the behaviors as values.

#[macro_use]
mod tests_macro;
mod behavior;
mod reset_clock;
pub mod faulty;
pub mod checkpoints;
pub mod graph;
pub mod journal;
pub mod journal_faults;
pub mod knowledge;
pub mod leases;
pub mod memory_store;
pub mod memory_store_faults;
pub mod quotas;
pub mod schedules;
pub mod sessions;
pub mod sources;
pub mod text_index;
pub mod user_data;
pub mod vector_index;
pub mod webhooks;

pub use behavior::{
    CHECKPOINT, JOURNAL, JOURNAL_FAULTS, KNOWLEDGE_GRAPH, KNOWLEDGE_STORE, MEMORY_STORE, MEMORY_STORE_FAULTS,
    QUOTA_STORE, RUN_LEASES, SCHEDULE_STORE, SESSION_STORE, SOURCE_STORE, StoreBehavior, TEXT_INDEX, USER_DATA,
    VECTOR_INDEX, WEBHOOK_STORE,
};

use std::{sync::Arc, time::Duration};

use agcore_memory::{
    EvictionConfig, MemoryStore,
    graph::KnowledgeGraph,
    knowledge::{KnowledgeStore, SourceStore},
    search::{TextIndex, VectorIndex},
};
use agcore_schedule::ScheduleStore;
use agcore_session::{CheckpointStore, Clock, Journal, RunLeases, SessionStore, quota::QuotaStore};
use agcore_store::user_data::UserDataStore;
use agcore_webhook::WebhookStore;
use async_trait::async_trait;

/// The part that all subjects have in common. Every store that a subject opens must be empty and share nothing with the others.
#[async_trait]
pub trait StoreSubject: Send + Sync {
    /// Returns why the stores cannot be checked here, such as `postgres: no server listens at 127.0.0.1:5432`. Then the tests
    /// print `skipped:` with the reason, and pass. By default, they can always be checked.
    async fn unavailable(&self) -> Option<String> {
        None
    }
}

/// Opens the memory stores to check.
#[async_trait]
pub trait MemoryStoreSubject: StoreSubject {
    /// Opens an empty memory store.
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore>;
}

/// Opens the journals to check.
#[async_trait]
pub trait JournalSubject: StoreSubject {
    /// Opens an empty journal.
    async fn journal(&self) -> Arc<dyn Journal>;
}

/// Opens the session stores to check.
#[async_trait]
pub trait SessionStoreSubject: StoreSubject {
    /// Opens an empty store.
    async fn session_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SessionStore>;

    /// Opens an empty store twice, as two processes would. By default, both handles are the same: implement this if your store
    /// can be opened more than once.
    async fn session_store_twice(&self, clock: Arc<dyn Clock>) -> [Arc<dyn SessionStore>; 2] {
        let store = self.session_store(clock).await;
        [Arc::clone(&store), store]
    }
}

/// Opens the checkpoint stores to check.
#[async_trait]
pub trait CheckpointStoreSubject: StoreSubject {
    /// Opens an empty store of checkpoints, together with the store that keeps their sessions.
    async fn checkpoint_store(&self, clock: Arc<dyn Clock>) -> (Arc<dyn SessionStore>, Arc<dyn CheckpointStore>);
}

/// A store of sessions whose runs workers share.
pub trait LeaseStore: SessionStore + CheckpointStore + RunLeases {}

impl<S: SessionStore + CheckpointStore + RunLeases + ?Sized> LeaseStore for S {}

/// Opens the stores of leases to check.
#[async_trait]
pub trait RunLeasesSubject: StoreSubject {
    /// Opens an empty store twice, as two processes would. Both handles may be the same.
    async fn lease_stores(&self) -> [Arc<dyn LeaseStore>; 2];

    /// Lets time pass for the store that was opened last. A database whose own clock decides moves the times in its tables back
    /// instead.
    async fn pass(&self, duration: Duration);
}

/// Opens the stores of quotas to check.
#[async_trait]
pub trait QuotaStoreSubject: StoreSubject {
    /// Opens an empty store twice, as two processes would. Both handles may be the same.
    async fn quota_stores(&self) -> [Arc<dyn QuotaStore>; 2];

    /// Lets time pass for the store that was opened last. A database whose own clock decides moves the times in its tables back
    /// instead: those at which allowances expire by this duration, and the beginnings of windows by all whole windows that it
    /// contains. A month has 31 days here.
    async fn pass(&self, duration: Duration);
}

/// Opens the stores of schedules to check.
#[async_trait]
pub trait ScheduleStoreSubject: StoreSubject {
    /// Opens an empty store twice, as two processes would. Both handles may be the same.
    async fn schedule_stores(&self) -> [Arc<dyn ScheduleStore>; 2];

    /// Lets time pass for the store that was opened last. A database whose own clock decides moves the times of the next
    /// occurrences in its tables back instead.
    async fn pass(&self, duration: Duration);
}

/// Opens the stores of webhooks to check.
#[async_trait]
pub trait WebhookStoreSubject: StoreSubject {
    /// Opens an empty store twice, as two processes would. Both handles may be the same. Each consists of the store of the runs,
    /// and of the store that gets the messages about them: for a database, both are the same.
    async fn webhook_stores(&self) -> [(Arc<dyn SessionStore>, Arc<dyn WebhookStore>); 2];

    /// Lets time pass for the store that was opened last. A database whose own clock decides moves the times of the next attempts
    /// of messages, and those at which claims of messages and leases of runs expire, back instead.
    async fn pass(&self, duration: Duration);
}

/// Opens the knowledge stores to check.
#[async_trait]
pub trait KnowledgeStoreSubject: StoreSubject {
    /// Opens an empty store.
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore>;
}

/// Opens the stores of sources to check.
#[async_trait]
pub trait SourceStoreSubject: StoreSubject {
    /// Opens an empty store.
    async fn source_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SourceStore>;
}

/// Opens the knowledge graphs to check.
#[async_trait]
pub trait KnowledgeGraphSubject: StoreSubject {
    /// Opens an empty graph.
    async fn knowledge_graph(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeGraph>;
}

/// Opens the indexes of texts to check, with the default keywords.
#[async_trait]
pub trait TextIndexSubject: StoreSubject {
    /// Opens an empty index.
    async fn text_index(&self) -> Arc<dyn TextIndex>;
}

/// Opens the indexes of vectors to check.
#[async_trait]
pub trait VectorIndexSubject: StoreSubject {
    /// Opens an empty index.
    async fn vector_index(&self) -> Arc<dyn VectorIndex>;
}

/// Opens the stores that keep everything of a user.
#[async_trait]
pub trait UserDataSubject: StoreSubject {
    /// Opens an empty store.
    async fn user_data_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn UserDataStore>;
}
