//! Knowledge: pages of a wiki, with summaries, tags and references to each other.
//!
//! A [`KnowledgeStore`] keeps the pages; [`markdown`] turns them into a folder of files that people can read and edit, and back. A
//! [`SourceStore`] also keeps from which files pages were made.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_memory::knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore, PageFilter};
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let store = InMemoryKnowledgeStore::new(Arc::new(SystemClock::new()));
//! let page = KnowledgePage::new("garden/tomatoes", "Tomatoes", "Water them in the morning.");
//! store.add(page.with_tag("garden").with_reference("garden/water")).await?;
//!
//! let about_gardens = store.list(&PageFilter::new("local").with_tag("garden")).await?;
//! assert_eq!(about_gardens[0].title, "Tomatoes");
//! assert_eq!(store.backlinks("local", "garden/water").await?, ["garden/tomatoes"]);
//! # Ok::<(), agcore_memory::MemoryError>(())
//! # }).unwrap();
//! ```

mod page_source;
mod source;
mod page;
mod filter;
mod changes;
mod recall;
mod store;
mod source_store;
#[cfg(feature = "in-memory")]
mod in_memory;
pub mod markdown;

#[cfg(feature = "in-memory")]
pub use self::in_memory::InMemoryKnowledgeStore;
pub use self::{
    changes::{Changes, Position},
    filter::PageFilter,
    page::{
        KnowledgePage, MAX_PAGE_BYTES, MAX_REFERENCES, MAX_TAG_BYTES, MAX_TAGS, PageSummary, TagCount, normalized_tag,
    },
    page_source::PageSource,
    recall::RecallStatistics,
    source::{KnowledgeSource, SourceChanges, SourceUpdate},
    source_store::SourceStore,
    store::KnowledgeStore,
};

pub(crate) use self::page::check_tag;
