//! Databases for agcore: implementations of the contracts of [`agcore_session`] and [`agcore_memory`], and of `agcore-schedule`
//! and `agcore-webhook`.
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
//! # Ok::<(), agcore_store::StoreError>(())
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
//! | `postgres` | `PostgresStore`: tables of a PostgreSQL server. Needs Rust 1.94. |
//! | `redis` | `RedisStore`: a Redis server. |
//! | `user-data` | `UserDataStore`: the export and erasure of everything that a store keeps of a user; enabled by `sqlite` and `postgres`. |
//! | `tls` | Encrypted connections to servers, with the root certificates of the system. |
//!
//! <!-- /features -->

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod error;
#[cfg(feature = "user-data")]
pub mod user_data;
#[cfg(any(feature = "postgres", feature = "redis", feature = "sqlite"))]
mod eviction;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod sql;

#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use error::{StoreError, StoreErrorKind};
