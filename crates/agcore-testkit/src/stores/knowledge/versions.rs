//! Saving pages only if no other writer has changed them.

use agcore_memory::{
    Actor, MemoryErrorKind,
    knowledge::{KnowledgePage, KnowledgeStore},
};
use futures_util::future::join_all;

use super::opened::{open, page};
use crate::stores::KnowledgeStoreSubject;

/// Checks that a page is saved only if it has the expected version, that each save has a higher one, and that a deletion does not
/// bring an old version back.
pub async fn puts_only_the_expected_version(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    let store = &*opened.store;
    let conflict = |expected, found| MemoryErrorKind::Conflict { expected, found };
    assert_eq!(put(store, "one", 7).await, Err(conflict(7, 0)));
    assert_eq!(opened.get("a").await, None);
    let first = put(store, "one", 0).await.unwrap();
    let stored = opened.get("a").await.unwrap();
    assert!(first > 0 && stored.version == first, "{stored:?}");
    assert_eq!(put(store, "two", 0).await, Err(conflict(0, first)));
    assert_eq!(opened.get("a").await.unwrap(), stored);

    let second = put(store, "two", first).await.unwrap();
    assert!(second > first);
    assert_eq!(put(store, "three", first).await, Err(conflict(first, second)));
    // Every other way to save a page changes its version as well.
    opened.save(page("a")).await;
    let third = opened.get("a").await.unwrap().version;
    assert!(third > second);
    assert_eq!(put(store, "four", second).await, Err(conflict(second, third)));
    store.update(page("a")).await.unwrap();
    assert!(opened.get("a").await.unwrap().version > third);

    let last = opened.get("a").await.unwrap().version;
    assert!(store.delete("local", "a").await.unwrap());
    assert_eq!(put(store, "five", last).await, Err(conflict(last, 0)));
    assert!(put(store, "six", 0).await.unwrap() > last);
    // Other tenants have other pages.
    let other = page("a").with_owner(Actor::new("other", "u"));
    assert!(store.put_if_version(other, 0).await.is_ok());
    let error = store.put_if_version(page("a\0"), 0).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
}

/// Checks that of many writers that add to one page at a time, none overwrites what another one has added.
pub async fn writers_with_versions_lose_nothing(subject: &dyn KnowledgeStoreSubject) {
    let opened = open(subject).await;
    opened.save(page("a")).await;
    let store = &*opened.store;
    let add = |number: u32| async move {
        loop {
            let mut page = store.get("local", "a").await.unwrap().unwrap();
            let version = page.version;
            page.content.push_str(&format!("{number} "));
            match store.put_if_version(page, version).await {
                Ok(_) => return,
                Err(error) => assert!(error.is_recoverable(), "{error}"),
            }
            tokio::task::yield_now().await;
        }
    };
    join_all((0..16).map(add)).await;
    let content = opened.get("a").await.unwrap().content;
    let mut numbers: Vec<u32> = content.split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..16).collect::<Vec<_>>());
}

/// Puts a page with this title.
async fn put(store: &dyn KnowledgeStore, title: &str, version: u64) -> Result<u64, MemoryErrorKind> {
    let put = store.put_if_version(KnowledgePage::new("a", title, ""), version).await;
    put.map_err(|error| error.kind())
}
