//! Memory: stores of facts and notes, wikis, knowledge graphs, and search in them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore::{
//!     chat::SystemClock,
//!     memory::{InMemoryStore, MemoryItem, MemoryStore},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = InMemoryStore::new(Arc::new(SystemClock::new()));
//! store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
//! assert_eq!(store.get("local", "notes/tea").await?.unwrap().content, "Ann likes green tea.");
//! # Ok::<(), agcore::memory::MemoryError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | keep facts, notes and documents | [`MemoryStore`] and [`MemoryItem`] |
//! | find them again by id, owner, time or metadata | [`MemoryFilter`] |
//! | keep pages of a wiki, also as a folder of Markdown files | [`KnowledgeStore`](knowledge::KnowledgeStore), [`knowledge::markdown`] |
//! | keep entities and the relations between them | [`KnowledgeGraph`](graph::KnowledgeGraph) |
//! | find pages by their words or their meaning, in English and in scripts without spaces | [`search`] |
//! | keep secrets out of a store | [`Redacted`] |
//! | remove old items | [`EvictionConfig`] |
//!
//! [`InMemoryStore`] keeps everything in the memory of the process. The module `store` contains databases, and the export and
//! erasure of everything that is known of a user. These are the public items of the crate `agcore-memory`.

#[doc(inline)]
pub use agcore_memory::*;
