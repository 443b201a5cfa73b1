//! [`Retrieval`]: the pages for a query, and the options that select them.

use agcore_chat::ModelCall;
use serde::Serialize;

use super::fusion::{Channel, Fusion, ScoreBreakdown};
use crate::{error::MemoryError, knowledge::KnowledgePage};

/// The way in which texts are compared with a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Scorer {
    /// BM25, with an index: good for wikis of any size.
    #[default]
    Bm25,
    /// [`overlap`](super::overlap()), which reads every page for every query: for small wikis and misspelled words.
    Overlap,
}

/// Options for [`MemoryRetriever`](super::MemoryRetriever).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RetrievalSettings {
    /// The maximum number of pages: 20.
    pub max_results: usize,
    /// The number of pages that each channel contributes to a fusion: 100.
    pub candidates: usize,
    /// The way in which texts are compared.
    pub scorer: Scorer,
    /// The way in which channels are combined.
    pub fusion: Fusion,
    /// The lowest score of a page, from 0 to 1. By default .1 for [`Scorer::Overlap`] alone and for [`Fusion::Weights`], else none.
    pub min_score: Option<f64>,
    /// Whether the vector channel is used, if the index has vectors: true.
    pub use_vectors: bool,
    /// Whether the graph channel is used, if the retriever has a graph: true.
    pub use_graph: bool,
    /// Whether the turns of a conversation are searched, if the retriever has some: true.
    pub use_turns: bool,
    /// Whether the store records which pages were returned: true.
    pub record_recalls: bool,
}

impl Default for RetrievalSettings {
    fn default() -> Self {
        Self {
            max_results: 20,
            candidates: 100,
            scorer: Scorer::Bm25,
            fusion: Fusion::default(),
            min_score: None,
            use_vectors: true,
            use_graph: true,
            use_turns: true,
            record_recalls: true,
        }
    }
}

/// A page that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RetrievedPage {
    /// The page. A turn that the channel [`Turns`](Channel::Turns) has found is a page with its id, title and text, which the
    /// store does not have.
    pub page: KnowledgePage,
    /// The score, from 0 to 1; the best page of a query with one channel has 1, unless its scorer is the overlap.
    pub score: f64,
    /// The parts of the score.
    pub breakdown: ScoreBreakdown,
}

/// A channel that failed while others did not.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ChannelFailure {
    /// The channel.
    pub channel: Channel,
    /// The reason.
    pub error: MemoryError,
}

/// The pages for a query.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Retrieval {
    /// The pages, the best first.
    pub hits: Vec<RetrievedPage>,
    /// The channels that failed. The pages are those of the others.
    pub failures: Vec<ChannelFailure>,
    /// The calls of the embedding model, of the query and of pages that had changed, for a bill.
    pub calls: Vec<ModelCall>,
}
