//! Databases for the contracts of [`session`](crate::session), [`memory`](crate::memory), `schedule` and `webhook`, with a
//! feature for each.
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use std::sync::Arc;
//!
//! use agcore::{
//!     chat::SystemClock,
//!     memory::{MemoryItem, MemoryStore},
//!     store::sqlite::SqliteStore,
//! };
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("agcore.db");
//! let store = SqliteStore::open(&path, Arc::new(SystemClock::new())).await?;
//! store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
//! assert!(store.get("local", "notes/tea").await?.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | keep everything in one file, without a server | `sqlite::SqliteStore` (feature `sqlite`) |
//! | share it between machines | `postgres::PostgresStore` (feature `postgres`) |
//! | share memory items and journals, and lose some if the server fails | `redis::RedisStore` (feature `redis`) |
//! | export or erase everything of a user | `user_data` (feature `user-data`) |
//!
//! These are the public items of the crate `agcore-store`.

#[doc(inline)]
pub use agcore_store::*;
