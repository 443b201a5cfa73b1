//! Saving, reading and deleting.

use std::time::Duration;

use agcore_memory::{Actor, EvictionConfig, MemoryErrorKind, MemoryFilter, MemoryItem, Timestamp, id};
use futures_util::future::join_all;
use serde_json::json;

use super::opened::open;
use crate::stores::MemoryStoreSubject;

/// Checks that saving an id again replaces the item and keeps the time of the first save.
pub async fn saves_and_replaces(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    assert_eq!(opened.get("a").await, None);
    opened.save(MemoryItem::new("a", "one").with_metadata("x", 1)).await;
    let first = opened.get("a").await.unwrap();
    assert_eq!(first.content, "one");
    assert!(first.created_at == first.updated_at && first.created_at > Timestamp::default());
    opened.save(MemoryItem::new("a", "two")).await;
    let second = opened.get("a").await.unwrap();
    assert_eq!((second.content.as_str(), second.metadata.len()), ("two", 0));
    assert_eq!(second.created_at, first.created_at);
    assert_eq!(second.updated_at, first.updated_at.after(Duration::from_secs(1)));
    assert_eq!(opened.store.count(&MemoryFilter::new("local")).await.unwrap(), 1);
}

/// Checks that if one item is not acceptable, none is saved; of an id that occurs twice, the last item counts.
pub async fn saves_all_or_none(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let items = vec![MemoryItem::new("a", ""), MemoryItem::new("", "")];
    let error = opened.store.save_many(items).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(opened.get("a").await, None);
    let items = ["one", "two"].map(|content| MemoryItem::new("a", content));
    opened.store.save_many(items.to_vec()).await.unwrap();
    assert_eq!(opened.get("a").await.unwrap().content, "two");
    opened.store.save_many(Vec::new()).await.unwrap();
}

/// Checks that an item comes back as it was saved, and keeps a time of creation that it brings along.
pub async fn keeps_every_member(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let mut item = MemoryItem::new("ä/%2F", "\u{0}日本😀\r\n\u{202e}")
        .with_owner(Actor::new("acme", "ann").with_line("support"))
        .with_metadata(
            "b",
            json!({"n": null, "f": 0.1, "i": -7, "u": u64::MAX, "\u{0}": ["\u{0}"]}),
        )
        .with_metadata("a", "")
        .with_source("message 7")
        .with_validity(Some(Timestamp::from_millis(-5)), Some(Timestamp::from_millis(5)));
    item.created_at = Timestamp::from_millis(1_234);
    opened.store.save(item.clone()).await.unwrap();
    let read = opened.store.get("acme", &item.id).await.unwrap().unwrap();
    item.updated_at = read.updated_at;
    assert_eq!(read, item);
}

/// Checks that two tenants can use the same id, and neither sees the item of the other.
pub async fn keeps_tenants_apart(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let item = |tenant: &str| MemoryItem::new("a", tenant).with_owner(Actor::new(tenant, "ann"));
    opened.save(item("one")).await;
    opened.save(item("two")).await;
    let store = &opened.store;
    assert_eq!(store.get("one", "a").await.unwrap().unwrap().content, "one");
    assert_eq!(store.get("three", "a").await.unwrap(), None);
    assert!(!store.delete("three", "a").await.unwrap());
    assert_eq!(store.delete_prefix("three", "a").await.unwrap(), 0);
    assert_eq!(store.list(&MemoryFilter::new("three")).await.unwrap(), []);
    assert_eq!(store.list(&MemoryFilter::new("one")).await.unwrap().len(), 1);
    assert_eq!(store.erase(&Actor::new("three", "ann")).await.unwrap(), 0);
    store.record_recall("three", "a", 1.0).await.unwrap();
    assert!(store.delete("one", "a").await.unwrap());
    assert_eq!(store.get("two", "a").await.unwrap().unwrap().content, "two");
}

/// Checks that a deleted item is gone, and a new one of that id starts anew.
pub async fn deletes(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    opened.save(MemoryItem::new("a", "one")).await;
    let first = opened.get("a").await.unwrap();
    assert!(opened.store.delete("local", "a").await.unwrap());
    assert!(!opened.store.delete("local", "a").await.unwrap());
    assert_eq!(opened.get("a").await, None);
    opened.save(MemoryItem::new("a", "two")).await;
    assert!(opened.get("a").await.unwrap().created_at > first.created_at);
}

/// Checks that deleting by prefix removes exactly the ids that begin with it. An empty prefix is refused.
pub async fn deletes_by_prefix(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    for id in ["a", "a/1", "a/2", "a0", "b/1", "A/1"] {
        opened.save(MemoryItem::new(id, "")).await;
    }
    assert_eq!(opened.store.delete_prefix("local", "a/").await.unwrap(), 2);
    assert_eq!(opened.store.delete_prefix("local", "a/").await.unwrap(), 0);
    assert_eq!(opened.all_ids().await, ["a", "a0", "b/1", "A/1"]);
    let error = opened.store.delete_prefix("local", "").await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
}

/// Checks that characters that a database may treat specially mean themselves.
pub async fn special_characters_are_data(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let ids = [
        "%",
        "_",
        "*",
        "?",
        "[a]",
        "\\",
        "'",
        "\"",
        ":",
        "%25",
        "a%b",
        "axb",
        "a_b",
        "a*b",
        "{x}",
        "$1",
        "\n",
        "é",
        "e\u{301}",
        "😀",
        "\u{10ffff}",
    ];
    for id in ids {
        opened.save(MemoryItem::new(id, id)).await;
    }
    for id in ids {
        assert_eq!(opened.get(id).await.unwrap().content, id);
        let below = opened.ids(MemoryFilter::new("local").with_prefix(id)).await;
        let expected: Vec<&str> = ids.into_iter().filter(|other| other.starts_with(id)).collect();
        assert_eq!(below, expected, "prefix {id:?}");
    }
    assert_eq!(opened.store.delete_prefix("local", "a_").await.unwrap(), 1);
    assert_eq!(opened.store.delete_prefix("local", "%").await.unwrap(), 2);
    assert_eq!(opened.all_ids().await.len(), ids.len() - 3);
}

/// Checks that what a database could not keep is refused by every store, and nothing is saved.
pub async fn refuses_unacceptable_input(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let long = "x".repeat(10_000);
    let items = [
        MemoryItem::new("", ""),
        MemoryItem::new("a\0", ""),
        MemoryItem::new(long.as_str(), ""),
        MemoryItem::new("a", "").with_owner(Actor::new("", "u")),
        MemoryItem::new("a", "").with_owner(Actor::new("t\0", "u")),
        MemoryItem::new("a", "").with_owner(Actor::new("t", long.as_str())),
        MemoryItem::new("a", "").with_validity(Some(Timestamp::from_millis(2)), Some(Timestamp::from_millis(1))),
    ];
    for item in items {
        let error = opened.store.save(item).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::InvalidInput, "{error}");
    }
    assert_eq!(opened.all_ids().await, [""; 0]);
    for id in ["", "a\0", long.as_str()] {
        assert_eq!(opened.get(id).await, None);
        assert!(!opened.store.delete("local", id).await.unwrap());
    }
    let filter = MemoryFilter::new("local").with_metadata("x", json!([1]));
    let error = opened.store.list(&filter).await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::InvalidInput);
    assert_eq!(
        opened.store.count(&filter).await.unwrap_err().kind(),
        MemoryErrorKind::InvalidInput
    );
}

/// Checks that an item with ten million characters and one with the longest id are kept.
pub async fn keeps_large_content(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let content = "0123456789abcdé".repeat(700_000);
    opened.save(MemoryItem::new("large", content.as_str())).await;
    assert!(
        opened.get("large").await.unwrap().content == content,
        "the content has changed"
    );
    let id = "😀".repeat(id::MAX_ID_BYTES / 4);
    opened.save(MemoryItem::new(id.as_str(), "")).await;
    assert!(opened.get(&id).await.is_some());
}

/// Checks that of saves that happen at the same time, all are kept.
pub async fn concurrent_saves_are_all_kept(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let saves = (0..64).map(|number| opened.store.save(MemoryItem::new(format!("{number:02}"), "")));
    for saved in join_all(saves).await {
        saved.unwrap();
    }
    let expected: Vec<String> = (0..64).map(|number| format!("{number:02}")).collect();
    assert_eq!(opened.all_ids().await, expected);
}

/// Checks that a fact that supersedes another one is saved together with the end of the other one, and nothing is saved if one
/// of them is not acceptable.
pub async fn supersedes_facts(subject: &dyn MemoryStoreSubject) {
    use MemoryErrorKind::{AlreadyExists, InvalidInput, InvalidState, NotFound};
    let opened = open(subject, EvictionConfig::new()).await;
    let time = Timestamp::from_millis;
    let fact = |id: &str, from: i64| MemoryItem::new(id, id).with_validity(Some(time(from)), None);
    opened.save(fact("a", 100).with_metadata("x", 1)).await;
    let first = opened.get("a").await.unwrap();
    opened.store.supersede("a", fact("b", 200)).await.unwrap();
    opened.store.supersede("b", fact("c", 300)).await.unwrap();
    let mut old = opened.get("a").await.unwrap();
    assert_eq!(old.valid_until, Some(time(200)));
    (old.valid_until, old.updated_at) = (None, first.updated_at);
    assert_eq!(old, first);
    for (at, expected) in [
        (99, &[][..]),
        (100, &["a"]),
        (199, &["a"]),
        (200, &["b"]),
        (299, &["b"]),
        (300, &["c"]),
    ] {
        let filter = MemoryFilter::new("local").with_valid_at(time(at));
        assert_eq!(opened.ids(filter).await, expected, "at {at}");
    }
    let other = fact("d", 400).with_owner(Actor::new("other", "u"));
    let refused = [
        (NotFound, "missing", fact("d", 400)),
        (NotFound, "c", other),
        (InvalidInput, "c", MemoryItem::new("d", "")),
        (InvalidInput, "c", fact("", 400)),
        (InvalidInput, "c", fact("c", 400)),
        (InvalidState, "c", fact("d", 299)),
        (InvalidState, "a", fact("d", 400)),
        (AlreadyExists, "c", fact("a", 400)),
    ];
    let before = opened.store.list(&MemoryFilter::new("local")).await.unwrap();
    for (kind, old, new) in refused {
        let error = opened.store.supersede(old, new).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
    }
    assert_eq!(opened.store.list(&MemoryFilter::new("local")).await.unwrap(), before);
}
