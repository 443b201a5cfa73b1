//! Changes of an index.

use std::{sync::Arc, time::Duration};

use agcore_memory::{
    knowledge::{InMemoryKnowledgeStore, KnowledgePage, KnowledgeStore, Position},
    search::{IndexChanges, KnowledgeIndex, TextDocument},
};

use super::opened::{document, open};
use crate::{clock::ManualClock, stores::TextIndexSubject};

/// A document that is saved again is replaced, and one that is removed is not found. Of the same id, the last document counts.
pub async fn replaces_and_removes(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    let documents = vec![document("a", "coffee"), document("b", "tea"), document("a", "tea tea")];
    opened.apply(documents, &["c"]).await;
    assert_eq!(opened.found("tea").await, ["a", "b"]);
    assert_eq!(opened.found("coffee").await, [""; 0]);
    opened.apply(vec![document("a", "coffee")], &["b", "no"]).await;
    assert_eq!(opened.found("tea").await, [""; 0]);
    assert_eq!(opened.found("coffee").await, ["a"]);
    assert_eq!(opened.index.count("local").await.unwrap(), 1);
    // Removed and saved at once: it is saved.
    opened.apply(vec![document("a", "water")], &["a"]).await;
    assert_eq!(opened.found("water").await, ["a"]);
    opened.apply(Vec::new(), &["a"]).await;
    assert_eq!(
        (
            opened.found("water").await.len(),
            opened.index.count("local").await.unwrap()
        ),
        (0, 0)
    );
    opened.apply(vec![document("a", "tea")], &[]).await;
    assert_eq!(opened.found("tea").await, ["a"]);
}

/// Changes are applied only if they begin at the position of the index, and then it has the position after them.
pub async fn changes_apply_only_where_they_belong(subject: &dyn TextIndexSubject) {
    let index = subject.text_index().await;
    assert_eq!(index.position("local").await.unwrap(), None);
    let (first, second) = (Some(Position::new(1 << 40, 1)), Some(Position::new(1 << 40, 2)));
    let changes = |after, position| IndexChanges::new(after, position).with_saved("a", document("a", "tea"));
    assert!(!index.apply("local", changes(first, second)).await.unwrap());
    assert_eq!(
        (
            index.count("local").await.unwrap(),
            index.position("local").await.unwrap()
        ),
        (0, None)
    );
    assert!(index.apply("local", changes(None, first)).await.unwrap());
    assert_eq!(index.position("local").await.unwrap(), first);
    assert!(!index.apply("local", changes(None, second)).await.unwrap());
    assert!(!index.apply("local", changes(second, second)).await.unwrap());
    assert_eq!(index.position("local").await.unwrap(), first);
    assert!(index.apply("local", IndexChanges::new(first, second)).await.unwrap());
    assert_eq!(
        (
            index.count("local").await.unwrap(),
            index.position("local").await.unwrap()
        ),
        (1, second)
    );
}

/// A reset removes what was there before, the position included.
pub async fn a_reset_forgets_everything(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    let documents = (0..600).map(|number| document(&number.to_string(), "tea")).collect();
    opened.apply(documents, &[]).await;
    let mut reset = IndexChanges::new(opened.position, Some(Position::new(2, 1)));
    reset.is_reset = true;
    assert!(
        opened
            .index
            .apply("local", reset.with_saved("b", document("b", "tea")))
            .await
            .unwrap()
    );
    assert_eq!(opened.found("tea").await, ["b"]);
    assert_eq!(opened.index.count("local").await.unwrap(), 1);
    let mut reset = IndexChanges::<TextDocument>::new(Some(Position::new(2, 1)), None);
    reset.is_reset = true;
    assert!(opened.index.apply("local", reset).await.unwrap());
    assert_eq!(opened.index.position("local").await.unwrap(), None);
    assert_eq!(opened.found("tea").await, [""; 0]);
}

/// Each tenant has an index of its own.
pub async fn keeps_tenants_apart(subject: &dyn TextIndexSubject) {
    let mut opened = open(subject).await;
    opened.apply(vec![document("a", "tea")], &[]).await;
    let index = &opened.index;
    for tenant in ["other", "", "loc", "local2", "a/../local", "租户", "%"] {
        assert_eq!(index.search(tenant, "tea", 10).await.unwrap(), [], "{tenant}");
        assert_eq!(index.position(tenant).await.unwrap(), None, "{tenant}");
    }
    let position = Some(Position::new(1, 9));
    for tenant in ["other", "a/../local", "租户"] {
        let changes = IndexChanges::new(None, position).with_saved("b", document("b", "tea"));
        assert!(index.apply(tenant, changes).await.unwrap(), "{tenant}");
    }
    let mut reset = IndexChanges::<TextDocument>::new(position, None);
    reset.is_reset = true;
    assert!(index.apply("other", reset).await.unwrap());
    assert_eq!(opened.found("tea").await, ["a"]);
    assert_eq!(index.search("租户", "tea", 10).await.unwrap()[0].id, "b");
    assert_eq!(index.count("other").await.unwrap(), 0);
}

/// One of several callers that apply changes to the same position succeeds.
pub async fn of_two_writers_one_wins(subject: &dyn TextIndexSubject) {
    let index = subject.text_index().await;
    for round in 0..5 {
        let after = Some(Position::new(1, round)).filter(|_| round > 0);
        let next = Some(Position::new(1, round + 1));
        let writers = (0..8).map(|writer| {
            let index = Arc::clone(&index);
            let id = format!("{round}-{writer}");
            let changes = IndexChanges::new(after, next).with_saved(id.as_str(), document(&id, "tea"));
            tokio::spawn(async move { index.apply("local", changes).await.unwrap() })
        });
        let writers: Vec<_> = writers.collect();
        let mut applied = 0;
        for writer in writers {
            applied += usize::from(writer.await.unwrap());
        }
        assert_eq!(applied, 1, "round {round}");
    }
    assert_eq!(index.count("local").await.unwrap(), 5);
}

/// The words of the pages of [`follows_a_store`].
const WORDS: [&str; 12] = [
    "tea", "green", "water", "garden", "rose", "bee", "番茄", "浇水", "rust", "stone", "the", "of",
];

/// After any changes of a store, an index that followed them finds the same, with the same scores, as one that is built at the
/// end.
pub async fn follows_a_store(subject: &dyn TextIndexSubject) {
    let clock = Arc::new(ManualClock::new());
    let store = Arc::new(InMemoryKnowledgeStore::new(Arc::clone(&clock) as _));
    let index = KnowledgeIndex::new(Arc::clone(&store) as _, subject.text_index().await);
    let mut random = 11_u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(random >> 33).unwrap_or_default() % below
    };
    for _ in 0..2_000 {
        let id = next(300).to_string();
        if next(4) == 0 {
            store.delete("local", &id).await.unwrap();
        } else {
            let words: Vec<&str> = (0..1 + next(9)).map(|_| WORDS[next(WORDS.len())]).collect();
            let page = KnowledgePage::new(id, WORDS[next(WORDS.len())], words.join(" "));
            store.upsert(page).await.unwrap();
        }
        if next(20) == 0 {
            index.refresh("local").await.unwrap();
        }
        clock.advance(Duration::from_secs(1));
    }
    let fresh = KnowledgeIndex::new(Arc::clone(&store) as _, subject.text_index().await);
    for word in WORDS {
        let query = format!("{word} rose tea");
        let [one, other] = [&index, &fresh].map(|index| index.search("local", &query, 400));
        let (one, other) = (one.await.unwrap(), other.await.unwrap());
        assert!(
            !one.is_empty() && one.len() == other.len(),
            "{query}: {} {}",
            one.len(),
            other.len()
        );
        for (one, other) in one.iter().zip(&other) {
            let is_close = (one.score - other.score).abs() < 1e-4;
            assert!(is_close, "{query}: {one:?} {other:?}");
        }
    }
}
