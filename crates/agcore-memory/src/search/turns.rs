//! [`TurnIndex`]: the turns of a conversation, found by their words.

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use super::{
    bm25::InMemoryTextIndex,
    text_index::{IndexChanges, IndexHit, TextDocument},
};
use crate::{
    error::MemoryError,
    keywords::{KeywordExtractor, Keywords},
};

/// A turn of a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Turn {
    /// The id of the turn, unique within the index.
    pub id: String,
    /// Additional words that describe it, such as the name of the speaker and the date.
    pub title: String,
    /// The text.
    pub text: String,
}

impl Turn {
    /// Creates a turn.
    pub fn new(id: impl Into<String>, title: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            text: text.into(),
        }
    }
}

/// An index of the turns of a conversation.
///
/// An answer is often in the turn after the words of a question, so each turn is indexed alone and together with its neighbors,
/// and the results are fused.
///
/// ```
/// use agcore_memory::search::{Turn, TurnIndex};
///
/// let index = TurnIndex::new();
/// index.push(Turn::new("1", "Ann", "Where did you buy that red bicycle?"));
/// index.push(Turn::new("2", "Ben", "At the market in Ulm."));
/// index.push(Turn::new("3", "Ann", "I have to go now."));
/// let hits = index.search("Where is the bicycle from?", 2)?;
/// assert_eq!([hits[0].id.as_str(), hits[1].id.as_str()], ["1", "2"]);
/// # Ok::<(), agcore_memory::MemoryError>(())
/// ```
///
/// [`MemoryRetriever::with_turns`](super::MemoryRetriever::with_turns) combines it with pages.
#[derive(Debug)]
pub struct TurnIndex {
    turns: InMemoryTextIndex,
    windows: InMemoryTextIndex,
    pushed: RwLock<Pushed>,
}

/// The turns of an index.
#[derive(Debug, Default)]
struct Pushed {
    by_id: BTreeMap<String, Turn>,
    /// The last two turns, whose windows may still grow.
    last: Vec<Turn>,
}

/// The tenant of the indexes within.
const TENANT: &str = "";

/// The number of hits of each index that are fused.
const CANDIDATES: usize = 200;

impl TurnIndex {
    /// Creates an empty index with the default [`Keywords`].
    pub fn new() -> Self {
        Self::with_extractor(Arc::new(Keywords::new()))
    }

    /// Creates an empty index with other keywords.
    pub fn with_extractor(extractor: Arc<dyn KeywordExtractor>) -> Self {
        Self {
            turns: InMemoryTextIndex::with_extractor(Arc::clone(&extractor)),
            windows: InMemoryTextIndex::with_extractor(extractor),
            pushed: RwLock::default(),
        }
    }

    /// Adds the next turn.
    pub fn push(&self, turn: Turn) {
        let mut pushed = self.pushed.write().unwrap_or_else(PoisonError::into_inner);
        let Pushed { by_id, last } = &mut *pushed;
        save(&self.turns, &turn, turn.text.clone());
        by_id.insert(turn.id.clone(), turn.clone());
        last.push(turn);
        for position in last.len().saturating_sub(2)..last.len() {
            let window = &last[position.saturating_sub(1)..last.len().min(position + 2)];
            let texts: Vec<&str> = window.iter().map(|turn| turn.text.as_str()).collect();
            save(&self.windows, &last[position], texts.join("\n"));
        }
        if last.len() > 2 {
            last.remove(0);
        }
    }

    /// Returns a turn.
    pub fn get(&self, id: &str) -> Option<Turn> {
        let pushed = self.pushed.read().unwrap_or_else(PoisonError::into_inner);
        pushed.by_id.get(id).cloned()
    }

    /// Returns the turns that match best, at most `limit`, with scores from 0 to 1.
    ///
    /// # Errors
    /// [`InvalidInput`](crate::MemoryErrorKind::InvalidInput) if the query has more than
    /// [`MAX_QUERY_BYTES`](super::MAX_QUERY_BYTES).
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<IndexHit>, MemoryError> {
        let mut scores: BTreeMap<String, f64> = BTreeMap::new();
        for index in [&self.turns, &self.windows] {
            let hits = index.search_now(TENANT, query, CANDIDATES.max(limit))?;
            for (rank, hit) in hits.into_iter().enumerate() {
                *scores.entry(hit.id).or_default() += 30.5 / (61.0 + rank as f64);
            }
        }
        let mut hits: Vec<IndexHit> = scores.into_iter().map(|(id, score)| IndexHit::new(id, score)).collect();
        hits.sort_by(|one, other| other.score.total_cmp(&one.score).then_with(|| one.id.cmp(&other.id)));
        hits.truncate(limit);
        Ok(hits)
    }
}

impl Default for TurnIndex {
    fn default() -> Self {
        Self::new()
    }
}

fn save(index: &InMemoryTextIndex, turn: &Turn, text: String) {
    let document = TextDocument::new(turn.id.as_str(), turn.title.as_str(), text);
    index.apply_now(
        TENANT,
        IndexChanges::new(None, None).with_saved(turn.id.as_str(), document),
    );
}
