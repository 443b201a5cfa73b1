//! Search: keywords, indexes of texts and vectors, and the retriever that combines them.
//!
//! ```
//! use std::sync::Arc;
//!
//! use agcore_chat::SystemClock;
//! use agcore_memory::{
//!     knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore},
//!     search::{InMemoryTextIndex, KnowledgeIndex, MemoryRetriever},
//! };
//!
//! # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
//! let clock = Arc::new(SystemClock::new());
//! let store = Arc::new(InMemoryKnowledgeStore::new(clock.clone()));
//! store.add(KnowledgePage::new("tomatoes", "Tomatoes", "Water them in the morning.")).await?;
//! store.add(KnowledgePage::new("fanqie", "番茄", "早上浇水最好。")).await?;
//!
//! let index = Arc::new(KnowledgeIndex::new(store, Arc::new(InMemoryTextIndex::new())));
//! let retriever = MemoryRetriever::new(index, clock);
//! assert_eq!(retriever.retrieve("local", "When do I water tomatoes?").await?.hits[0].page.id, "tomatoes");
//! assert_eq!(retriever.retrieve("local", "番茄什么时候浇水？").await?.hits[0].page.id, "fanqie");
//! # Ok::<(), agcore_memory::MemoryError>(())
//! # }).unwrap();
//! ```

mod text_index;
mod bm25;
mod vector_index;
mod overlap;
mod passages;
mod turns;
mod fusion;
mod embedder_calls;
mod knowledge_index;
mod graph_channel;
mod retrieval;
mod retriever;

pub use crate::keywords::{KeywordExtractor, Keywords, MAX_KEYWORDS};

pub use self::{
    bm25::{Bm25Formula, Bm25Settings, CountedTerms, InMemoryTextIndex, TermCounter},
    fusion::{Channel, ChannelScore, Fusion, ScoreBreakdown},
    knowledge_index::KnowledgeIndex,
    overlap::overlap,
    passages::{PagePart, best_citation, matching_parts, page_part},
    retrieval::{ChannelFailure, Retrieval, RetrievalSettings, RetrievedPage, Scorer},
    retriever::MemoryRetriever,
    text_index::{IndexChanges, IndexHit, MAX_QUERY_BYTES, TextDocument, TextIndex, check_query},
    turns::{Turn, TurnIndex},
    vector_index::{InMemoryVectorIndex, NearestVectors, VectorIndex, check_vector, normalized_vector},
};
