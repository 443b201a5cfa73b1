//! Vectors: similarity, fusion with texts, and embedders that fail.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use agcore_chat::{Embedder, Embeddings, Fault, FaultKind};
use agcore_memory::{
    MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{Channel, InMemoryVectorIndex, IndexChanges, KnowledgeIndex, MemoryRetriever, VectorIndex},
};
use async_trait::async_trait;

use super::{Wiki, retrieved};

/// Knows that some words mean the same. Behaves badly if a text asks for it.
#[derive(Default)]
struct Meanings {
    texts: AtomicU32,
}

const MEANINGS: [&[&str]; 3] = [
    &["car", "automobile", "vehicle"],
    &["tea", "drink"],
    &["rose", "flower"],
];

#[async_trait]
impl Embedder for Meanings {
    async fn embed(&self, texts: &[&str]) -> Result<Embeddings, Fault> {
        let mut vectors = Vec::new();
        for text in texts {
            self.texts.fetch_add(1, Ordering::Relaxed);
            let count = |words: &&[&str]| words.iter().map(|word| text.matches(word).count()).sum::<usize>() as f32;
            let mut vector: Vec<f32> = MEANINGS.iter().map(count).collect();
            vector.push(0.01);
            if text.contains("fail") {
                return Err(Fault::new(FaultKind::Overloaded, "the model is overloaded"));
            } else if text.contains("nan") {
                vector[1] = f32::NAN;
            } else if text.contains("short") {
                vector.pop();
            } else if text.contains("empty") {
                vector.clear();
            } else if text.contains("missing") {
                continue;
            }
            vectors.push(vector);
        }
        Ok(Embeddings::new(vectors))
    }
}

fn index(wiki: &Wiki) -> (Arc<Meanings>, KnowledgeIndex) {
    let embedder = Arc::new(Meanings::default());
    let index = wiki.index();
    let index = index.with_vectors(Arc::clone(&embedder) as _, Arc::new(InMemoryVectorIndex::new()));
    (embedder, index)
}

fn page(id: &str, content: &str) -> KnowledgePage {
    KnowledgePage::new(id, "", content)
}

async fn wiki() -> Wiki {
    Wiki::with([
        page("car", "a red automobile"),
        page("tea", "a hot drink"),
        page("rose", "a rose"),
    ])
    .await
}

#[tokio::test]
async fn meanings_are_found_without_common_words() {
    let wiki = wiki().await;
    let (embedder, index) = index(&wiki);
    let hits = index.search_vectors("local", "vehicle", 2).await.unwrap();
    assert_eq!((hits[0].id.as_str(), hits.len()), ("car", 2));
    assert!(hits[0].score > 0.99 && hits[1].score < 0.1);
    // Only what has changed is embedded again.
    let before = embedder.texts.load(Ordering::Relaxed);
    wiki.store.upsert(page("tea", "a flower")).await.unwrap();
    wiki.store.delete("local", "rose").await.unwrap();
    assert_eq!(index.search_vectors("local", "flower", 1).await.unwrap()[0].id, "tea");
    assert_eq!(embedder.texts.load(Ordering::Relaxed) - before, 2);
    assert_eq!(index.search_vectors("local", " ", 1).await.unwrap(), []);
}

#[tokio::test]
async fn texts_and_vectors_are_fused() {
    let wiki = wiki().await;
    wiki.store
        .upsert(page("both", "a vehicle, an automobile, a car"))
        .await
        .unwrap();
    let retriever = MemoryRetriever::new(Arc::new(index(&wiki).1), Arc::clone(&wiki.clock) as _);
    let hits = retriever.retrieve("local", "vehicle").await.unwrap().hits;
    assert_eq!(hits[0].page.id, "both");
    assert_eq!(hits[1].page.id, "car");
    assert_eq!(hits[0].breakdown.channels.len(), 2);
    assert!(hits[1].breakdown.channel(Channel::Text).is_none());
    assert!(hits[0].score > 0.99 && hits[0].score <= 1.0, "{}", hits[0].score);
    assert!((hits[1].score - 0.5 / 1.5).abs() < 1e-9, "{}", hits[1].score);
}

#[tokio::test]
async fn embedders_that_misbehave_are_reported() {
    let wiki = wiki().await;
    for (query, expected) in [
        ("fail", "the embedder failed; search without vectors, or try again"),
        (
            "nan",
            "the embedder returned NaN as value 2 of a vector, which is not a finite number",
        ),
        ("empty", "the embedder returned an empty vector"),
        ("missing", "the embedder returned 0 vectors for 1 texts"),
        (
            "short",
            "the embedder returned a vector with 3 dimensions, but those of the index have 4: use the model with which it was \
             built, or rebuild it",
        ),
    ] {
        let (_, index) = index(&wiki);
        let error = index.search_vectors("local", query, 1).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (MemoryErrorKind::Retrieval, expected)
        );
        // The others are still found.
        let index = Arc::new(index);
        let retriever = MemoryRetriever::new(Arc::clone(&index), Arc::clone(&wiki.clock) as _);
        let retrieval = retriever.retrieve("local", &format!("{query} drink")).await.unwrap();
        assert_eq!(retrieval.hits[0].page.id, "tea");
        assert_eq!(retrieval.failures[0].channel, Channel::Vector);
        assert_eq!(retrieval.failures[0].error.to_string(), expected);
        // And vectors, too, as soon as the embedder works again.
        assert_eq!(retrieved(&retriever, "vehicle").await[0], "car");
    }
}

#[tokio::test]
async fn a_page_that_cannot_be_embedded_is_not_skipped() {
    let wiki = wiki().await;
    let (_, index) = index(&wiki);
    wiki.store.upsert(page("bad", "nan")).await.unwrap();
    assert!(index.search_vectors("local", "vehicle", 1).await.is_err());
    wiki.store.upsert(page("bad", "a car")).await.unwrap();
    let hits = index.search_vectors("local", "vehicle", 2).await.unwrap();
    assert_eq!(hits.len(), 2);
    assert!(hits.iter().any(|hit| hit.id == "bad"));
    assert_eq!(index.rebuild("local").await.unwrap(), 4);
}

#[tokio::test]
async fn vectors_are_compared_by_direction() {
    let index = InMemoryVectorIndex::new();
    let changes = IndexChanges::new(None, None)
        .with_saved("same", vec![1e30, 1e30])
        .with_saved("opposite", vec![-1e-30, -1e-30])
        .with_saved("none", vec![0.0, 0.0]);
    assert!(index.apply("t", changes).await.unwrap());
    let hits = index.search("t", &[2.0, 2.0], 3).await.unwrap();
    let scores: Vec<f64> = hits.iter().map(|hit| hit.score.round()).collect();
    assert_eq!(scores, [1.0, 0.0, -1.0]);
    let changes = IndexChanges::new(None, None).with_saved("a", vec![1.0]);
    assert!(index.apply("t", changes.clone()).await.is_err());
    // After a reset, another model may have been used.
    let mut reset = changes;
    reset.is_reset = true;
    assert!(index.apply("t", reset).await.unwrap());
    assert_eq!(index.search("t", &[1.0], 3).await.unwrap().len(), 1);
    assert_eq!(index.search("u", &[1.0, 2.0], 3).await.unwrap(), []);
}
