//! Databases for agcore: implementations of the contracts of [`agcore_memory`].
//!
//! ```
//! # #[cfg(feature = "sqlite")]
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_memory::{MemoryItem, MemoryStore};
//! use agcore_store::sqlite::SqliteStore;
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("agcore.db");
//! let store = SqliteStore::open(&path, Arc::new(SystemClock::new())).await?;
//! store.save(MemoryItem::new("notes/tea", "Ann likes green tea.")).await?;
//! store.close().await;
//!
//! let store = SqliteStore::open(&path, Arc::new(SystemClock::new())).await?;
//! assert_eq!(store.get("local", "notes/tea").await?.unwrap().content, "Ann likes green tea.");
//! # Ok::<(), agcore_memory::MemoryError>(())
//! # }).unwrap();
//! ```
//!
//! # Features
//!
//! <!-- features -->
//!
//! | feature | description |
//! |---|---|
//! | `sqlite` | `SqliteStore`: one file, with SQLite built in. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

#[cfg(feature = "sqlite")]
pub mod sqlite;
