//! Memory and knowledge of agents: the contracts of stores of memory items, wikis and knowledge graphs, search in them, and
//! implementations that keep everything in the memory of the process. Sessions are in the crate `agcore-session`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_memory::{InMemoryStore, MemoryItem, MemoryStore};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = InMemoryStore::new(Arc::new(SystemClock::new()));
//! store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
//! assert_eq!(store.get("local", "notes/tea").await?.unwrap().content, "Ann likes green tea.");
//! # Ok::<(), agcore_memory::MemoryError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | keep facts, notes and documents | [`MemoryStore`] and [`MemoryItem`] |
//! | find them again by id, owner, time or metadata | [`MemoryFilter`] |
//! | keep pages of a wiki, also as a folder of Markdown files | `knowledge::KnowledgeStore`, `knowledge::markdown` (feature `knowledge`) |
//! | keep entities and the relations between them | `graph::KnowledgeGraph` (feature `knowledge`) |
//! | find pages by their words or their meaning, in English and in scripts without spaces | `search` (feature `knowledge`) |
//! | keep secrets out of a store | [`Redacted`] |
//! | remove old items | [`EvictionConfig`] |
//! | join parts into ids that cannot collide | [`id`] |
//!
//! `InMemoryStore`, `knowledge::InMemoryKnowledgeStore` and `graph::InMemoryGraph` (feature `in-memory`) implement the contracts
//! for tests and short-lived programs. The crate `agcore-store` implements them for databases.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `in-memory` (default) | Stores that keep everything in the memory of the process. |
//! | `knowledge` (default) | Wikis, knowledge graphs and search. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod item;
mod filter;
#[cfg(feature = "knowledge")]
mod keywords;
mod eviction;
mod store;
#[cfg(feature = "in-memory")]
mod in_memory;
#[cfg(feature = "knowledge")]
pub mod knowledge;
#[cfg(feature = "knowledge")]
pub mod search;
#[cfg(feature = "knowledge")]
pub mod graph;
mod redacted;

pub use error::{MemoryError, MemoryErrorKind};
pub use eviction::{EvictionCandidate, EvictionConfig, EvictionPolicy, RESERVED_PREFIXES};
pub use filter::{MemoryFilter, Order};
#[cfg(feature = "in-memory")]
pub use in_memory::InMemoryStore;
pub use item::MemoryItem;
pub use store::MemoryStore;

#[doc(no_inline)]
pub use agcore_chat::{Actor, Clock, Timestamp, TimestampError, id, redact::Redacted};
