//! The persistence contracts of agcore: stores of memory items, journals, sessions and checkpoints, and implementations that keep
//! everything in the memory of the process.
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
//! | keep a log that several writers append to | [`Journal`] |
//! | keep sessions with messages, events, runs, tool calls and approvals | [`SessionStore`](session::SessionStore) |
//! | save the state of a run after its steps | [`CheckpointStore`] |
//! | keep the messages of a conversation | [`ConversationMemory`] |
//! | keep pages of a wiki, also as a folder of Markdown files | `knowledge::KnowledgeStore`, `knowledge::markdown` (feature `knowledge`) |
//! | keep entities and the relations between them | `graph::KnowledgeGraph` (feature `knowledge`) |
//! | find pages by their words or their meaning, in English and in scripts without spaces | `search` (feature `knowledge`) |
//! | keep secrets out of a store | [`Redacted`] |
//! | remove old items | [`EvictionConfig`] |
//! | remove old sessions, runs and events, and keep the bill | [`Retention`](session::Retention) |
//! | export or erase everything of a user | `user_data` (feature `knowledge`) |
//! | join parts into ids that cannot collide | [`mod@id`] |
//!
//! `InMemoryStore`, `InMemoryJournal` and `session::InMemorySessionStore` (feature `in-memory`) implement the contracts for tests and
//! short-lived programs. The crate `agcore-store` implements them for databases.
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `in-memory` (default) | Stores that keep everything in the memory of the process. |
//! | `knowledge` (default) | Wikis, knowledge graphs and search, and the export and erasure of all data of a user. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod hold;
mod timestamp;
pub mod id;
mod item;
mod filter;
#[cfg(feature = "knowledge")]
mod keywords;
mod eviction;
mod store;
#[cfg(feature = "in-memory")]
mod in_memory;
mod journal;
mod checkpoint;
pub mod session;
#[cfg(feature = "knowledge")]
pub mod knowledge;
#[cfg(feature = "knowledge")]
pub mod search;
#[cfg(feature = "knowledge")]
pub mod graph;
mod conversation;
mod redacted;
#[cfg(feature = "knowledge")]
pub mod user_data;

pub use checkpoint::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey};
pub use conversation::{ConversationMemory, ConversationSettings, ConversationStrategy, conversations_of};
pub use error::{MemoryError, MemoryErrorKind};
pub use eviction::{EvictionCandidate, EvictionConfig, EvictionPolicy, RESERVED_PREFIXES};
pub use filter::{MemoryFilter, Order};
pub use hold::{Hold, HoldGuard, Holder};
#[cfg(feature = "in-memory")]
pub use in_memory::InMemoryStore;
pub use item::MemoryItem;
#[cfg(feature = "in-memory")]
pub use journal::InMemoryJournal;
pub use journal::{Entry, Journal, Record};
pub use redacted::Redacted;
pub use store::MemoryStore;
pub use timestamp::{Timestamp, TimestampError};

#[doc(no_inline)]
pub use agcore_chat::{Actor, Clock, Money, Usage};
