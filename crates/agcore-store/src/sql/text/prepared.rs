//! [`Prepared`]: changes of an index whose texts were converted to terms.

use std::collections::{BTreeMap, HashMap};

use agcore_memory::{
    knowledge::Position,
    search::{Bm25Settings, IndexChanges, KeywordExtractor, TextDocument},
};

/// The version of the tables and their bytes. Increase it when either changes: older indexes are then built again.
const VERSION: u32 = 1;

/// Returns what identifies the contents of an index. An index with another format is built again.
pub(crate) fn format_of(extractor: &dyn KeywordExtractor, settings: Bm25Settings) -> String {
    let (fingerprint, title, summary) = (extractor.fingerprint(), settings.title, settings.summary);
    format!("{VERSION} {fingerprint} {title} {summary}")
}

/// The terms of a document with their numbers of occurrences.
pub(crate) type Terms = BTreeMap<Box<str>, f32>;

/// Returns the keys of the terms of a document with their numbers of occurrences.
pub(crate) fn keyed(document: &Terms, keys: &HashMap<&str, i64>) -> Vec<(i64, f32)> {
    let known = document
        .iter()
        .filter_map(|(term, occurrences)| Some((*keys.get(&**term)?, *occurrences)));
    known.collect()
}

/// Changes of an index.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) after: Option<Position>,
    pub(crate) position: Option<Position>,
    pub(crate) is_reset: bool,
    /// The documents that change, by id: their terms, or `None` to remove them.
    pub(crate) documents: BTreeMap<String, Option<Terms>>,
}

impl Prepared {
    /// Converts the texts of changes to terms, which is what takes time.
    pub(crate) fn new(
        changes: IndexChanges<TextDocument>,
        extractor: &dyn KeywordExtractor,
        settings: Bm25Settings,
    ) -> Self {
        let mut documents: BTreeMap<String, Option<Terms>> = BTreeMap::new();
        documents.extend(changes.removed.into_iter().map(|id| (id, None)));
        for (id, document) in changes.saved {
            documents.insert(id, Some(settings.terms(extractor, &document)));
        }
        Self {
            after: changes.after,
            position: changes.position,
            is_reset: changes.is_reset,
            documents,
        }
    }

    /// Returns the different terms of all documents.
    pub(crate) fn terms(&self) -> Vec<&str> {
        let documents = self.documents.values().flatten();
        let mut terms: Vec<&str> = documents.flat_map(BTreeMap::keys).map(|term| &**term).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }
}
