//! Conformance suites for stores: what every [`MemoryStore`] and every
//! [`Journal`] must do, checked on yours.
//!
//! Implement [`StoreSubject`], then let a macro make one test of each behavior:
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_memory::{Clock, EvictionConfig, InMemoryJournal, InMemoryStore, Journal, MemoryStore};
//! use agcore_testkit::stores::StoreSubject;
//! use async_trait::async_trait;
//!
//! struct InMemory;
//!
//! #[async_trait]
//! impl StoreSubject for InMemory {
//!     async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore> {
//!         Arc::new(InMemoryStore::new(clock).with_eviction(eviction))
//!     }
//!
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

#[macro_use]
mod tests_macro;
pub mod journal;
pub mod memory_store;

use std::sync::Arc;

use agcore_memory::{Clock, EvictionConfig, Journal, MemoryStore};
use async_trait::async_trait;

/// Opens the stores to check. Every call must return a store that is empty and shares nothing with the others.
#[async_trait]
pub trait StoreSubject: Send + Sync {
    /// Opens an empty memory store.
    async fn memory_store(&self, clock: Arc<dyn Clock>, eviction: EvictionConfig) -> Arc<dyn MemoryStore>;

    /// Opens an empty journal.
    async fn journal(&self) -> Arc<dyn Journal>;
}
