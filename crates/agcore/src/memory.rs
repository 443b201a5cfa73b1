//! Memory: stores of facts and notes, journals, and conversations that survive the process.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore::{
//!     Message,
//!     chat::{Actor, SystemClock},
//!     memory::{ConversationMemory, InMemoryJournal},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let (journal, clock) = (Arc::new(InMemoryJournal::new()), Arc::new(SystemClock::new()));
//! let mut memory = ConversationMemory::open(journal, clock, &Actor::user("ann"), "tea").await?;
//! memory.push(Message::user("Which tea is green?")).await?;
//! assert_eq!(memory.messages().len(), 1);
//! # Ok::<(), agcore::memory::MemoryError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | keep facts, notes and documents | [`MemoryStore`] and [`MemoryItem`] |
//! | find them again by id, owner, time or metadata | [`MemoryFilter`] |
//! | keep the messages of a conversation | [`ConversationMemory`] |
//! | keep pages of a wiki, also as a folder of Markdown files | [`KnowledgeStore`](knowledge::KnowledgeStore), [`knowledge::markdown`] |
//! | keep a log that several writers append to | [`Journal`] |
//! | keep entities and the relations between them | [`KnowledgeGraph`](graph::KnowledgeGraph) |
//! | find pages by their words or their meaning, in English and in scripts without spaces | [`search`] |
//! | keep secrets out of a store | [`Redacted`] |
//! | remove old items | [`EvictionConfig`] |
//!
//! [`InMemoryStore`] and [`InMemoryJournal`] keep everything in the memory of the process. The module `store` contains databases.
//! These are the public items of the crate `agcore-memory`.

#[doc(inline)]
pub use agcore_memory::*;
