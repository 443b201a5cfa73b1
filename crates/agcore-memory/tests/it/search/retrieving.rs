//! The retriever: scorers, fusion, scores and recalls.

use std::time::Duration;

use agcore_memory::{
    MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{Channel, Fusion, MemoryRetriever, RetrievalSettings, Scorer},
};

use super::{Wiki, retrieved};

fn page(id: &str, content: &str) -> KnowledgePage {
    KnowledgePage::new(id, id, content)
}

fn settings(change: impl FnOnce(&mut RetrievalSettings)) -> RetrievalSettings {
    let mut settings = RetrievalSettings::default();
    change(&mut settings);
    settings
}

fn with(wiki: &Wiki, change: impl FnOnce(&mut RetrievalSettings)) -> MemoryRetriever {
    wiki.retriever().with_settings(settings(change))
}

#[tokio::test]
async fn bm25_prefers_rare_words_and_short_pages() {
    let wiki = Wiki::with([
        page("common", "tea tea tea and more tea"),
        page("rare", "tea with bergamot"),
        page("long", &format!("bergamot {}", "filler words ".repeat(50))),
        page("other", "coffee"),
    ])
    .await;
    let retriever = wiki.retriever();
    assert_eq!(retrieved(&retriever, "bergamot tea").await, ["rare", "common", "long"]);
    let hits = retriever.retrieve("local", "bergamot tea").await.unwrap().hits;
    assert_eq!(hits[0].score, 1.0);
    assert!(hits[1].score < 1.0 && hits[2].score > 0.0);
    let text = hits[1].breakdown.channel(Channel::Text).unwrap();
    assert!(text.rank == 2 && text.score > 0.0);
    assert!(hits[0].breakdown.channel(Channel::Vector).is_none());
}

#[tokio::test]
async fn settings_limit_the_result() {
    let wiki = Wiki::with((0..50).map(|number| page(&format!("{number:02}"), &"tea ".repeat(1 + number)))).await;
    assert_eq!(retrieved(&wiki.retriever(), "tea").await.len(), 20);
    let few = with(&wiki, |settings| settings.max_results = 3);
    assert_eq!(retrieved(&few, "tea").await.len(), 3);
    let strict = with(&wiki, |settings| settings.min_score = Some(1.0));
    assert_eq!(retrieved(&strict, "tea").await.len(), 1);
    let none = with(&wiki, |settings| settings.max_results = 0);
    assert_eq!(retrieved(&none, "tea").await, [""; 0]);
}

#[tokio::test]
async fn overlap_tolerates_misspelled_words() {
    let wiki = Wiki::with([page("tomatoes", "x"), page("lilies", "x"), page("番茄", "x")]).await;
    let overlap = with(&wiki, |settings| settings.scorer = Scorer::Overlap);
    assert_eq!(retrieved(&overlap, "tomatos").await, ["tomatoes"]);
    assert_eq!(retrieved(&overlap, "番茄").await, ["番茄"]);
    // Every page has a pair in common, but too few.
    let content = "a content about many other things that has next to nothing to do with it";
    wiki.store.upsert(page("q", content)).await.unwrap();
    assert_eq!(retrieved(&overlap, "thorough").await, [""; 0]);
    let everything = with(&wiki, |settings| {
        settings.scorer = Scorer::Overlap;
        settings.min_score = Some(0.0);
    });
    assert_eq!(retrieved(&everything, "thorough").await, ["q"]);
    let hit = &overlap.retrieve("local", "tomatos").await.unwrap().hits[0];
    assert_eq!(hit.score, hit.breakdown.channel(Channel::Overlap).unwrap().score);
}

/// The scorer reads all pages, also when there are more than it keeps.
#[tokio::test]
async fn overlap_finds_the_best_of_many() {
    let many = (0..400).map(|number| page(&format!("tomato {number}"), "x"));
    let wiki = Wiki::with(many.chain([page("tomatoes", "tomatoes")])).await;
    let overlap = with(&wiki, |settings| settings.scorer = Scorer::Overlap);
    assert_eq!(retrieved(&overlap, "tomatoes").await[0], "tomatoes");
}

#[tokio::test]
async fn weights_use_recency_and_references() {
    let wiki = Wiki::with([page("old", "tea"), page("linked", "tea")]).await;
    wiki.clock.advance(Duration::from_secs(7 * 24 * 3600));
    for id in ["x", "y"] {
        wiki.store.upsert(page(id, "").with_reference("linked")).await.unwrap();
    }
    wiki.store
        .upsert(page("new", "tea").with_reference("old"))
        .await
        .unwrap();
    let weighted = with(&wiki, |settings| settings.fusion = Fusion::weights());
    let hits = weighted.retrieve("local", "tea").await.unwrap().hits;
    let ids: Vec<&str> = hits.iter().map(|hit| hit.page.id.as_str()).collect();
    assert_eq!(ids, ["linked", "old", "new"]);
    let of = |id: &str| &hits.iter().find(|hit| hit.page.id == id).unwrap().breakdown;
    assert_eq!(
        [of("linked").references, of("old").references, of("new").references],
        [1.0, 0.5, 0.0]
    );
    assert!((of("old").recency - (-1.0_f64).exp()).abs() < 1e-9 && of("new").recency == 1.0);
    let expected = 0.5 * 1.0 + 0.1 * (-1.0_f64).exp() + 0.2;
    assert!((hits[0].score - expected).abs() < 1e-6, "{}", hits[0].score);
}

#[tokio::test]
async fn recalls_are_recorded() {
    let wiki = Wiki::with([page("a", "tea"), page("b", "tea tea"), page("c", "coffee")]).await;
    retrieved(&wiki.retriever(), "tea").await;
    retrieved(&wiki.retriever(), "coffee").await;
    retrieved(&wiki.retriever(), "coffee").await;
    let silent = with(&wiki, |settings| settings.record_recalls = false);
    retrieved(&silent, "tea").await;
    let statistics = wiki.store.recall_statistics("local", 10).await.unwrap();
    let recalls: Vec<_> = statistics.iter().map(|page| (page.id.as_str(), page.recalls)).collect();
    assert_eq!(recalls, [("c", 2), ("a", 1), ("b", 1)]);
    assert_eq!(statistics[0].mean_score, 1.0);
}

#[tokio::test]
async fn unacceptable_queries_are_explained() {
    let wiki = Wiki::with([page("a", "tea")]).await;
    let error = wiki
        .retriever()
        .retrieve("local", &"x".repeat(1_000_000))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(retrieved(&wiki.retriever(), "").await, [""; 0]);
}
