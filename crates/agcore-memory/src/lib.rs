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
//! | keep pages of a wiki, also as a folder of Markdown files | [`KnowledgeStore`](knowledge::KnowledgeStore), [`knowledge::markdown`] |
//! | keep entities and the relations between them | [`KnowledgeGraph`](graph::KnowledgeGraph) |
//! | find pages by their words or their meaning, in English and in scripts without spaces | [`search`] |
//! | keep secrets out of a store | [`Redacted`] |
//! | remove old items | [`EvictionConfig`] |
//! | remove old sessions, runs and events, and keep the bill | [`Retention`](session::Retention) |
//! | export or erase everything of a user | [`user_data`] |
//! | join parts into ids that cannot collide | [`mod@id`] |
//!
//! [`InMemoryStore`], [`InMemoryJournal`] and [`InMemorySessionStore`](session::InMemorySessionStore) implement the contracts for
//! tests and short-lived programs. The crate `agcore-store` implements them for databases.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
mod timestamp;
pub mod id;
mod item;
mod filter;
mod keywords;
mod eviction;
mod store;
mod in_memory;
mod journal;
mod checkpoint;
pub mod session;
pub mod knowledge;
pub mod search;
pub mod graph;
mod conversation;
mod redacted;
pub mod user_data;

pub use checkpoint::{Checkpoint, CheckpointStore, NewCheckpoint, RunKey};
pub use conversation::{ConversationMemory, ConversationSettings, ConversationStrategy, conversations_of};
pub use error::{MemoryError, MemoryErrorKind};
pub use eviction::{EvictionCandidate, EvictionConfig, EvictionPolicy, RESERVED_PREFIXES};
pub use filter::{MemoryFilter, Order};
pub use in_memory::InMemoryStore;
pub use item::MemoryItem;
pub use journal::{Entry, InMemoryJournal, Journal, Record};
pub use redacted::Redacted;
pub use store::MemoryStore;
pub use timestamp::{Timestamp, TimestampError};

#[doc(no_inline)]
pub use agcore_chat::{Actor, Clock, Money, Usage};
