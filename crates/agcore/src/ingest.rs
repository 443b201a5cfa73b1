//! Files and folders as pages of knowledge, with citations of their places.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore::{
//!     chat::SystemClock,
//!     files::StandardPreprocessor,
//!     ingest::Ingest,
//!     memory::knowledge::{InMemoryKnowledgeStore, KnowledgeStore},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
//! let clock = SystemClock::shared();
//! let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
//! let ingest = Ingest::new(store.clone(), Arc::new(StandardPreprocessor::new(clock)));
//! ingest.content("prices.csv", b"plant,price\nrose,7.50\n".to_vec()).await?;
//!
//! let page = store.get("local", "prices/0001").await?.unwrap();
//! assert_eq!(page.citation().to_string(), "prices.csv, line 2");
//! # Ok::<(), agcore::memory::MemoryError>(())
//! # }).unwrap();
//! ```
//!
//! | to | use |
//! |---|---|
//! | read a folder, a file, or a content | [`Ingest`] |
//! | see what became of the files | [`IngestReport`] |

#[doc(inline)]
pub use agcore_ingest::*;
