//! Runs the conformance suites on the stores of this crate, and tests the layers above them. Shows that each check of the
//! suites can fail.

#![allow(
    clippy::disallowed_methods,
    clippy::panic,
    clippy::unwrap_used,
    reason = "tests fail by panicking, and one reads the variable AGCORE_SOAK"
)]

mod knowledge_folder;
mod mutants;
mod redacted;
mod search;

use std::sync::Arc;

use agcore_memory::{
    Clock, EvictionConfig, InMemoryStore, MemoryStore,
    graph::{InMemoryGraph, KnowledgeGraph},
    knowledge::{InMemoryKnowledgeStore, KnowledgeStore, SourceStore},
    search::{InMemoryTextIndex, InMemoryVectorIndex, TextIndex, VectorIndex},
};
use agcore_testkit::stores::{
    KnowledgeGraphSubject, KnowledgeStoreSubject, MemoryStoreSubject, SourceStoreSubject, StoreSubject,
    TextIndexSubject, VectorIndexSubject,
};
use async_trait::async_trait;

struct InMemory;

impl StoreSubject for InMemory {}

#[async_trait]
impl MemoryStoreSubject for InMemory {
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
        Arc::new(InMemoryStore::new(clock).with_eviction(eviction))
    }
}

#[async_trait]
impl KnowledgeStoreSubject for InMemory {
    async fn knowledge_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeStore> {
        Arc::new(InMemoryKnowledgeStore::new(clock))
    }
}

#[async_trait]
impl SourceStoreSubject for InMemory {
    async fn source_store(&self, clock: Arc<dyn Clock>) -> Arc<dyn SourceStore> {
        Arc::new(InMemoryKnowledgeStore::new(clock))
    }
}

#[async_trait]
impl KnowledgeGraphSubject for InMemory {
    async fn knowledge_graph(&self, clock: Arc<dyn Clock>) -> Arc<dyn KnowledgeGraph> {
        Arc::new(InMemoryGraph::new(clock))
    }
}

#[async_trait]
impl TextIndexSubject for InMemory {
    async fn text_index(&self) -> Arc<dyn TextIndex> {
        Arc::new(InMemoryTextIndex::new())
    }
}

#[async_trait]
impl VectorIndexSubject for InMemory {
    async fn vector_index(&self) -> Arc<dyn VectorIndex> {
        Arc::new(InMemoryVectorIndex::new())
    }
}

mod memory_store {
    agcore_testkit::memory_store_tests!(super::InMemory);
}

mod knowledge_store {
    agcore_testkit::knowledge_store_tests!(super::InMemory);
}

mod source_store {
    agcore_testkit::source_store_tests!(super::InMemory);
}

mod knowledge_graph {
    agcore_testkit::knowledge_graph_tests!(super::InMemory);
}

mod text_index {
    agcore_testkit::text_index_tests!(super::InMemory);
}

mod vector_index {
    agcore_testkit::vector_index_tests!(super::InMemory);
}

mod memory_store_faults {
    agcore_testkit::memory_store_fault_tests!(super::InMemory);
}
