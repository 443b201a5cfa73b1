//! [`Prepared`]: changes of an index whose texts were converted to terms.

use std::collections::BTreeMap;

use agcore_memory::{
    knowledge::Position,
    search::{Bm25Settings, CountedTerms, IndexChanges, KeywordExtractor, TermCounter, TextDocument},
};

/// The version of the tables and their bytes. Increase it when either changes: older indexes are then built again.
const VERSION: u32 = 2;

/// Returns what identifies the contents of an index. An index with another format is built again.
pub(crate) fn format_of(extractor: &dyn KeywordExtractor, settings: Bm25Settings) -> String {
    let (fingerprint, title, summary) = (extractor.fingerprint(), settings.title, settings.summary);
    format!("{VERSION} {fingerprint} {title} {summary}")
}

/// Changes of an index.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) after: Option<Position>,
    pub(crate) position: Option<Position>,
    pub(crate) is_reset: bool,
    /// The different terms of all documents, in ascending order.
    pub(crate) terms: Vec<Box<str>>,
    /// The documents that change, by id: the places of their terms above, or `None` to remove them.
    pub(crate) documents: BTreeMap<String, Option<CountedTerms>>,
}

impl Prepared {
    /// Converts the texts of changes to terms, which is what takes time.
    pub(crate) fn new(
        changes: IndexChanges<TextDocument>,
        extractor: &dyn KeywordExtractor,
        settings: Bm25Settings,
    ) -> Self {
        let mut documents: BTreeMap<String, Option<CountedTerms>> = BTreeMap::new();
        documents.extend(changes.removed.into_iter().map(|id| (id, None)));
        let mut counter = TermCounter::new();
        for (id, document) in changes.saved {
            documents.insert(id, Some(counter.count(&document, extractor, &settings)));
        }
        let (terms, places) = sorted(counter.into_terms());
        let counted = documents.values_mut().flatten();
        for (term, _) in counted.flat_map(|document| &mut document.terms) {
            *term = places[*term as usize];
        }
        Self {
            after: changes.after,
            position: changes.position,
            is_reset: changes.is_reset,
            terms,
            documents,
        }
    }
}

/// Sorts terms. Returns their new places, too.
fn sorted(terms: Vec<Box<str>>) -> (Vec<Box<str>>, Vec<u32>) {
    let mut numbered: Vec<(Box<str>, usize)> = terms.into_iter().zip(0..).collect();
    numbered.sort_unstable();
    let mut places = vec![0; numbered.len()];
    for (place, (_, number)) in (0..).zip(&numbered) {
        places[*number] = place;
    }
    (numbered.into_iter().map(|(term, _)| term).collect(), places)
}
