//! Lists of pages, tags and links.

use agcore_memory::{
    Actor, Order,
    knowledge::{KnowledgePage, PageFilter, TagCount},
};

use super::opened::{open, page};
use crate::stores::KnowledgeStoreSubject;

/// Checks that pages are listed by time of creation, then by id.
pub async fn lists_in_a_stable_order(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    // Two at the same time.
    for id in ["c", "b"] {
        opened.store.upsert(page(id)).await.unwrap();
    }
    opened.save(page("z")).await;
    opened.save(page("a")).await;
    opened.save(page("b")).await;
    assert_eq!(opened.all_ids().await, ["b", "c", "z", "a"]);
    let newest = PageFilter::new("local").with_order(Order::NewestFirst);
    assert_eq!(opened.ids(newest).await, ["a", "z", "c", "b"]);
}

/// Checks that offset and limit select a part of the list.
pub async fn pages_through_a_list(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    for number in 0..5 {
        opened.save(page(&number.to_string())).await;
    }
    let part = |offset, limit| PageFilter::new("local").with_offset(offset).with_limit(limit);
    assert_eq!(opened.ids(part(1, 2)).await, ["1", "2"]);
    assert_eq!(opened.ids(part(4, 10)).await, ["4"]);
    assert_eq!(opened.ids(part(5, 10)).await, [""; 0]);
    assert_eq!(opened.ids(part(0, 0)).await, [""; 0]);
    assert_eq!(opened.ids(part(u64::MAX, u64::MAX)).await, [""; 0]);
    assert_eq!(opened.ids(PageFilter::new("local").with_offset(3)).await, ["3", "4"]);
    assert_eq!(opened.store.count(&part(1, 2)).await.unwrap(), 5);
}

/// Checks that filters select by prefix, owner and all tags.
pub async fn filters_pages(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let ann = Actor::user("ann");
    opened.save(page("a/1").with_tag("red").with_tag("big")).await;
    opened.save(page("a/2").with_tag("red").with_owner(ann.clone())).await;
    opened
        .save(page("b/1").with_tag("big").with_owner(ann.clone().with_line("x")))
        .await;
    let all = || PageFilter::new("local");
    assert_eq!(opened.ids(all().with_prefix("a/")).await, ["a/1", "a/2"]);
    assert_eq!(opened.ids(all().with_tag(" RED ")).await, ["a/1", "a/2"]);
    assert_eq!(opened.ids(all().with_tag("red").with_tag("big")).await, ["a/1"]);
    assert_eq!(opened.ids(all().with_tag("red").with_tag("red")).await, ["a/1", "a/2"]);
    assert_eq!(opened.ids(all().with_tag("re")).await, [""; 0]);
    assert_eq!(opened.ids(all().with_owner(ann.clone())).await, ["a/2"]);
    assert_eq!(opened.ids(all().with_owner(ann.clone().with_line("x"))).await, ["b/1"]);
    assert_eq!(opened.ids(PageFilter::new("other").with_owner(ann)).await, [""; 0]);
    assert_eq!(opened.store.count(&all().with_tag("big")).await.unwrap(), 2);
    assert_eq!(
        opened
            .store
            .count(&all().with_tag("big").with_prefix("b"))
            .await
            .unwrap(),
        1
    );
}

/// Checks that tags are counted, those of most pages first.
pub async fn counts_tags(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    opened.save(page("1").with_tag("tea").with_tag("food")).await;
    opened.save(page("2").with_tag("tea").with_tag("team")).await;
    opened.save(page("3").with_tag("book")).await;
    let tags = |prefix, limit| opened.store.tags("local", prefix, limit);
    let count = TagCount::new;
    assert_eq!(
        tags("", 9).await.unwrap(),
        [count("tea", 2), count("book", 1), count("food", 1), count("team", 1)]
    );
    assert_eq!(tags("tea", 9).await.unwrap(), [count("tea", 2), count("team", 1)]);
    assert_eq!(tags("", 2).await.unwrap(), [count("tea", 2), count("book", 1)]);
    assert_eq!(tags("x", 9).await.unwrap(), []);
    assert_eq!(tags("\0", 9).await.unwrap(), []);
    opened.save(page("2")).await;
    assert_eq!(tags("tea", 9).await.unwrap(), [count("tea", 1)]);
}

/// Checks that the pages that refer to a page are found, whether or not it exists.
pub async fn follows_references(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    opened.save(page("b").with_reference("x").with_reference("a")).await;
    opened.save(page("a").with_reference("x").with_reference("a")).await;
    let store = &opened.store;
    assert_eq!(store.backlinks("local", "x").await.unwrap(), ["a", "b"]);
    assert_eq!(store.backlinks("local", "a").await.unwrap(), ["a", "b"]);
    let ids = ["x", "none", "a", "x"].map(str::to_owned);
    assert_eq!(store.count_backlinks("local", &ids).await.unwrap(), [2, 0, 2, 2]);
    assert_eq!(store.count_backlinks("local", &[]).await.unwrap(), [0; 0]);
    opened.save(page("b").with_reference("c")).await;
    assert_eq!(store.backlinks("local", "x").await.unwrap(), ["a"]);
    assert_eq!(store.backlinks("local", "c").await.unwrap(), ["b"]);
}

/// Checks that recalls are counted, and survive a change of the page but not its deletion.
pub async fn counts_recalls(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    for id in ["a", "b", "c"] {
        opened.save(page(id)).await;
    }
    let store = &opened.store;
    let recall = |id: &str, score| (id.to_owned(), score);
    store
        .record_recalls("local", &[recall("b", 0.5), recall("a", 7.0), recall("missing", 1.0)])
        .await
        .unwrap();
    store.record_recalls("local", &[recall("b", 0.25)]).await.unwrap();
    store.record_recalls("local", &[]).await.unwrap();
    store.record_recalls("local", &[recall("c", f64::NAN)]).await.unwrap();
    let before = store.changes("local", None, 9).await.unwrap();
    opened.save(KnowledgePage::new("b", "new", "")).await;
    let statistics = store.recall_statistics("local", 9).await.unwrap();
    let found: Vec<_> = statistics.iter().map(|page| (page.id.as_str(), page.recalls)).collect();
    assert_eq!(found, [("b", 2), ("a", 1), ("c", 1)]);
    let scores: Vec<f64> = statistics.iter().map(|page| page.mean_score).collect();
    assert_eq!(scores, [0.375, 1.0, 0.0]);
    assert!(statistics[0].recalled_at > before.saved[2].created_at);
    assert_eq!(store.recall_statistics("local", 1).await.unwrap().len(), 1);
    store.delete("local", "b").await.unwrap();
    opened.save(page("b")).await;
    assert_eq!(store.recall_statistics("local", 9).await.unwrap()[0].id, "a");
}
