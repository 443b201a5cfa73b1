//! The quality of retrieval on the sets of this repository: a floor for each, so that it does not get worse unnoticed.

use std::sync::Arc;

use agcore_memory::{
    knowledge::KnowledgePage,
    search::{MemoryRetriever, RetrievalSettings, Scorer},
};

use super::{Wiki, retrieved};

/// The share of queries whose answer is the first result and that of those where it is among the first five, with the others.
#[derive(Debug)]
struct Measured {
    first: f64,
    first_five: f64,
    #[expect(dead_code, reason = "printed when a check fails")]
    missed: Vec<(&'static str, Vec<String>)>,
}

/// Pages, and queries with the pages that answer them.
struct Set {
    pages: Vec<KnowledgePage>,
    queries: Vec<(&'static str, Vec<&'static str>)>,
}

impl Set {
    fn parse(text: &'static str) -> Self {
        let (pages, queries) = text.split_once("# Queries").unwrap();
        let rows = |text: &'static str| {
            let lines = text.lines().skip(1).filter(|line| !line.is_empty());
            lines.map(|line| line.split(" | ").collect::<Vec<_>>())
        };
        let set = Self {
            pages: rows(pages)
                .map(|row| KnowledgePage::new(row[0], row[1], row[2]))
                .collect(),
            queries: rows(queries)
                .map(|row| (row[0], row[1].split(", ").collect()))
                .collect(),
        };
        assert!(set.queries.len() >= 60, "only {} queries", set.queries.len());
        for (query, answers) in &set.queries {
            let is_page = |answer: &&str| set.pages.iter().any(|page| page.id == **answer);
            assert!(answers.iter().all(is_page), "{query}: {answers:?}");
        }
        set
    }

    /// Returns the shares of queries whose answer is the first result, and among the first five; fails if one has no result.
    async fn measure(&self, scorer: Scorer) -> Measured {
        let wiki = Wiki::with(self.pages.clone()).await;
        let mut settings = RetrievalSettings::default();
        settings.scorer = scorer;
        settings.record_recalls = false;
        let index = Arc::new(wiki.index());
        let retriever = MemoryRetriever::new(index, Arc::clone(&wiki.clock) as _).with_settings(settings);
        let (mut first, mut first_five, mut missed) = (0, 0, Vec::new());
        for (query, answers) in &self.queries {
            let found = retrieved(&retriever, query).await;
            let is_answer = |id: &String| answers.contains(&id.as_str());
            first += usize::from(found.first().is_some_and(is_answer));
            first_five += usize::from(found.iter().take(5).any(is_answer));
            if !found.iter().take(5).any(is_answer) {
                missed.push((*query, found));
            }
        }
        let share = |number: usize| number as f64 / self.queries.len() as f64;
        Measured {
            first: share(first),
            first_five: share(first_five),
            missed,
        }
    }
}

/// Checks that the answers are found at least this often as the first result, and among the first five.
async fn check(text: &'static str, floors: (f64, f64)) {
    let set = Set::parse(text);
    let found = set.measure(Scorer::Bm25).await;
    assert!(found.first >= floors.0 && found.first_five >= floors.1, "{found:?}");
    // The index is worth its while.
    let overlap = set.measure(Scorer::Overlap).await;
    assert!(found.first > overlap.first, "{found:?} is not better than {overlap:?}");
}

#[tokio::test]
async fn english() {
    check(include_str!("sets/english.txt"), (0.9, 0.97)).await;
}

#[tokio::test]
async fn chinese() {
    check(include_str!("sets/chinese.txt"), (0.9, 1.0)).await;
}

#[tokio::test]
async fn japanese() {
    check(include_str!("sets/japanese.txt"), (0.9, 1.0)).await;
}

#[tokio::test]
async fn mixed() {
    check(include_str!("sets/mixed.txt"), (0.9, 1.0)).await;
}
