//! Indexes learn what has changed.

use std::sync::Arc;

use agcore_memory::{
    Actor, MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore},
    search::{InMemoryTextIndex, IndexChanges, KnowledgeIndex, MAX_QUERY_BYTES, TextDocument, TextIndex},
};

use super::{Wiki, found};

fn page(id: &str, content: &str) -> KnowledgePage {
    KnowledgePage::new(id, "", content)
}

#[tokio::test]
async fn every_change_is_found_at_once() {
    let wiki = Wiki::new();
    let index = wiki.index();
    assert_eq!(found(&index, "tea").await, [""; 0]);
    wiki.store.add(page("a", "green tea")).await.unwrap();
    assert_eq!(found(&index, "tea").await, ["a"]);
    wiki.store.update(page("a", "coffee")).await.unwrap();
    assert_eq!(found(&index, "tea").await, [""; 0]);
    assert_eq!(found(&index, "coffee").await, ["a"]);
    wiki.store.delete("local", "a").await.unwrap();
    assert_eq!(found(&index, "coffee").await, [""; 0]);
    wiki.store
        .upsert(page("b", "coffee").with_owner(Actor::user("ann")))
        .await
        .unwrap();
    assert_eq!(found(&index, "coffee").await, ["b"]);
    wiki.store.erase(&Actor::user("ann")).await.unwrap();
    assert_eq!(found(&index, "coffee").await, [""; 0]);
}

#[tokio::test]
async fn titles_summaries_and_tags_are_found() {
    let tagged = page("tagged", "x").with_tag("machine learning");
    let titled = KnowledgePage::new("titled", "Roses", "x");
    let summed = page("summed", "x").with_summary("about bees");
    let wiki = Wiki::with([tagged, titled, summed]).await;
    let index = wiki.index();
    assert_eq!(found(&index, "learning").await, ["tagged"]);
    assert_eq!(found(&index, "rose").await, ["titled"]);
    assert_eq!(found(&index, "bees").await, ["summed"]);
}

#[tokio::test]
async fn tenants_are_apart() {
    let wiki = Wiki::with([page("a", "tea"), page("a", "tea").with_owner(Actor::new("other", "u"))]).await;
    let index = wiki.index();
    assert_eq!(found(&index, "tea").await, ["a"]);
    assert_eq!(index.search("third", "tea", 10).await.unwrap(), []);
    wiki.store.delete("local", "a").await.unwrap();
    assert_eq!(found(&index, "tea").await, [""; 0]);
    assert_eq!(index.search("other", "tea", 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn an_index_of_another_store_is_built_again() {
    let texts = Arc::new(InMemoryTextIndex::new());
    let old = Wiki::with([page("old", "tea"), page("older", "tea")]).await;
    let index = KnowledgeIndex::new(Arc::clone(&old.store) as _, Arc::clone(&texts) as _);
    assert_eq!(found(&index, "tea").await.len(), 2);
    let new = Wiki::new();
    new.clock.advance(std::time::Duration::from_secs(1));
    let index = KnowledgeIndex::new(Arc::clone(&new.store) as _, Arc::clone(&texts) as _);
    assert_eq!(found(&index, "tea").await, [""; 0]);
    new.store.add(page("new", "tea")).await.unwrap();
    assert_eq!(found(&index, "tea").await, ["new"]);
}

#[tokio::test]
async fn a_rebuild_finds_what_a_damaged_index_does_not() {
    let wiki = Wiki::with((0..300).map(|number| page(&number.to_string(), "tea"))).await;
    let texts = Arc::new(InMemoryTextIndex::new());
    let index = KnowledgeIndex::new(Arc::clone(&wiki.store) as _, Arc::clone(&texts) as _);
    assert_eq!(index.search("local", "tea", 1000).await.unwrap().len(), 300);
    // Something is lost, without the store knowing it.
    let position = texts.position("local").await.unwrap();
    let mut loss = IndexChanges::new(position, position);
    loss.removed = vec!["7".to_owned()];
    assert!(texts.apply("local", loss).await.unwrap());
    assert_eq!(index.search("local", "tea", 1000).await.unwrap().len(), 299);
    assert_eq!(index.rebuild("local").await.unwrap(), 300);
    assert_eq!(index.search("local", "tea", 1000).await.unwrap().len(), 300);
}

#[tokio::test]
async fn changes_are_applied_only_where_they_belong() {
    let texts = InMemoryTextIndex::new();
    let document = || TextDocument::new("a", "", "tea");
    let elsewhere = Some(agcore_memory::knowledge::Position::new(1, 1));
    let changes = IndexChanges::new(elsewhere, elsewhere).with_saved("a", document());
    assert!(!texts.apply("local", changes).await.unwrap());
    assert_eq!(texts.count("local").await.unwrap(), 0);
    let changes = IndexChanges::new(None, elsewhere).with_saved("a", document());
    assert!(texts.apply("local", changes).await.unwrap());
    assert_eq!(texts.position("local").await.unwrap(), elsewhere);
}

/// After any changes, an index that followed them finds the same as one that is built at the end.
#[tokio::test]
async fn an_index_equals_a_rebuild() {
    const WORDS: [&str; 12] = [
        "tea", "green", "water", "garden", "rose", "bee", "番茄", "浇水", "rust", "stone", "the", "of",
    ];
    let wiki = Wiki::new();
    let (mut index, mut random) = (wiki.index(), 11_u64);
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize % below
    };
    for step in 0..10_000 {
        let id = next(300).to_string();
        if next(4) == 0 {
            wiki.store.delete("local", &id).await.unwrap();
        } else {
            let words: Vec<&str> = (0..1 + next(9)).map(|_| WORDS[next(WORDS.len())]).collect();
            wiki.store.upsert(page(&id, &words.join(" "))).await.unwrap();
        }
        match next(500) {
            // The program starts again.
            0 => index = wiki.index(),
            1..50 => index.refresh("local").await.unwrap(),
            _ => {}
        }
        if step % 1000 == 999 {
            let fresh = wiki.index();
            for word in WORDS {
                let query = format!("{word} rose tea");
                let [one, other] = [&index, &fresh].map(|index| index.search("local", &query, 400));
                let (one, other) = (one.await.unwrap(), other.await.unwrap());
                assert_eq!(one.len(), other.len(), "{query}");
                for (one, other) in one.iter().zip(&other) {
                    assert!((one.score - other.score).abs() < 1e-4, "{query}: {one:?} {other:?}");
                }
            }
        }
    }
}

#[tokio::test]
async fn queries_of_every_kind_are_answered() {
    let wiki = Wiki::with([page("a", "the tea is in the x")]).await;
    let index = wiki.index();
    for query in ["", " ", "?", "\0", "zzz"] {
        assert_eq!(found(&index, query).await, [""; 0], "{query:?}");
    }
    for query in [
        "x",
        "the",
        "TEA",
        "tea AND NOT (x",
        "title:tea^2 OR \"",
        "tea* ~",
        "-tea",
    ] {
        assert_eq!(found(&index, query).await, ["a"], "{query:?}");
    }
    let error = index.search("local", &"x".repeat(1_000_000), 10).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(
        error.to_string(),
        "the query has 1000000 bytes; at most 65536 are allowed: search for a part of it"
    );
    let longest = "tea ".repeat(MAX_QUERY_BYTES / 4);
    assert_eq!(found(&index, &longest).await, ["a"]);
    assert_eq!(index.search("local", "tea", 0).await.unwrap(), []);
}
