//! Data: large, wide and numerous items, the indexes, and keys that must not stay.

use std::sync::Arc;

use agcore_memory::{EvictionConfig, EvictionPolicy, MemoryFilter, MemoryItem, MemoryStore, Order};
use agcore_session::{Actor, Journal, Record, Timestamp};
use agcore_store::redis::RedisStore;
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use super::{SharedServer, server_or_return, shared_server::keys};

async fn open(server: &SharedServer) -> RedisStore {
    server.options().open(Arc::new(ManualClock::new())).await.unwrap()
}

fn ids(items: Vec<MemoryItem>) -> Vec<String> {
    items.into_iter().map(|item| item.id).collect()
}

fn record(data: impl Into<serde_json::Value>) -> Record {
    Record::new("k", 1, Timestamp::default(), data.into())
}

#[tokio::test]
async fn data_survives_reopening() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    store.save(MemoryItem::new("a", "text")).await.unwrap();
    store.append("s", 0, vec![record(1)]).await.unwrap();
    let clone = store.clone();
    store.close().await;
    let error = clone.get("local", "a").await.unwrap_err();
    assert!(error.message().contains("the store was closed"), "{error:?}");
    let options = server.options_with(&server.prefix());
    let store = options.open(Arc::new(ManualClock::new())).await.unwrap();
    assert_eq!(store.get("local", "a").await.unwrap().unwrap().content, "text");
    assert_eq!(store.read("s", 0).await.unwrap().len(), 1);
}

#[tokio::test]
async fn fifty_megabytes_are_kept() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    let content = "0123456789é".repeat(50_000_000 / 12);
    store.save(MemoryItem::new("large", content.as_str())).await.unwrap();
    assert!(store.get("local", "large").await.unwrap().unwrap().content == content);
    let listed = store.list(&MemoryFilter::new("local")).await.unwrap();
    assert!(listed[0].content == content);
    store.append("s", 0, vec![record(content.as_str())]).await.unwrap();
    assert!(store.read("s", 0).await.unwrap()[0].record.data == content);
}

#[tokio::test]
async fn many_entries_and_items_at_once_are_kept() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    let mut item = MemoryItem::new("wide", "");
    for number in 0..20_000 {
        item = item.with_metadata(format!("{number}"), number);
    }
    let items = (0..10_000).map(|number| MemoryItem::new(format!("{number:05}"), ""));
    store.save_many(items.chain([item]).collect()).await.unwrap();
    let filter = MemoryFilter::new("local").with_metadata("19999", 19_999);
    assert_eq!(ids(store.list(&filter).await.unwrap()), ["wide"]);
    let prefix = MemoryFilter::new("local").with_prefix("0");
    assert_eq!(store.count(&prefix).await.unwrap(), 10_000);
    let page = prefix.with_order(Order::NewestFirst).with_offset(9_998);
    assert_eq!(ids(store.list(&page).await.unwrap()), ["00001", "00000"]);
    store.append("s", 0, (0..5_000).map(record).collect()).await.unwrap();
    assert_eq!(store.read("s", 4_999).await.unwrap()[1].record.data, json!(4_999));
    assert_eq!(store.delete_prefix("local", "0").await.unwrap(), 10_000);
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 1);
}

#[tokio::test]
async fn all_indexes_agree_in_every_order() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    // More than the server reads at a time, with equal times.
    let items = (0..2_500).map(|number| {
        let mut item = MemoryItem::new(format!("p/{:04}", (number * 7) % 2_500), "");
        item.created_at = Timestamp::from_millis(1_000 + number / 10);
        item
    });
    let items: Vec<MemoryItem> = items.collect();
    store.save_many(items.clone()).await.unwrap();
    let mut expected: Vec<_> = items.iter().map(|item| (item.created_at, item.id.clone())).collect();
    expected.sort();
    let mut expected: Vec<String> = expected.into_iter().map(|(_, id)| id).collect();
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let all = MemoryFilter::new("local").with_order(order);
        let owned = MemoryFilter::owned_by(Actor::local()).with_order(order);
        for filter in [
            all.clone(),
            all.with_prefix("p/"),
            owned.clone(),
            owned.with_prefix("p"),
        ] {
            assert_eq!(store.count(&filter).await.unwrap(), 2_500);
            assert!(ids(store.list(&filter).await.unwrap()) == expected, "{filter:?}");
            let page = filter.with_offset(1_203).with_limit(5);
            assert_eq!(ids(store.list(&page).await.unwrap()), expected[1_203..1_208]);
        }
        expected.reverse();
    }
}

#[tokio::test]
async fn replacing_an_item_leaves_nothing_of_the_old_one() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    let old = MemoryItem::new("a", "").with_owner(Actor::user("ann").with_line("l"));
    let old = old.with_source("s").with_metadata("x", "old");
    store
        .save(old.with_validity(Some(Timestamp::default()), None))
        .await
        .unwrap();
    let new = MemoryItem::new("a", "new").with_owner(Actor::user("ben"));
    store.save(new.clone()).await.unwrap();
    let mut read = store.get("local", "a").await.unwrap().unwrap();
    (read.created_at, read.updated_at) = Default::default();
    assert_eq!(read, new);
    let old = MemoryFilter::new("local").with_metadata("x", "old");
    assert_eq!(store.count(&old).await.unwrap(), 0);
    assert_eq!(store.erase(&Actor::user("ann")).await.unwrap(), 0);
    assert_eq!(store.erase(&Actor::user("ben")).await.unwrap(), 1);
}

#[tokio::test]
async fn nothing_is_left_when_everything_was_removed() {
    let server = server_or_return!(SharedServer::connect());
    let ttl = EvictionPolicy::Ttl(std::time::Duration::from_secs(10));
    let capacity = EvictionPolicy::Capacity { max_items: 0 };
    let eviction = EvictionConfig::new()
        .with_policy("ttl/", ttl)
        .with_policy("capacity/", capacity);
    let clock = Arc::new(ManualClock::new());
    let options = server.options().with_eviction(eviction);
    let store = options.open(Arc::clone(&clock) as _).await.unwrap();
    let item = |id: &str| MemoryItem::new(id, "").with_metadata("x", 1);
    for id in ["deleted", "prefix/1", "prefix/2", "erased", "ttl/1", "capacity/1"] {
        let tenant = format!("tenant {id}");
        let item = item(id).with_owner(Actor::new(tenant.as_str(), "ann"));
        store.save(item).await.unwrap();
        store.record_recall(&tenant, id, 0.5).await.unwrap();
        store.record_recall(&tenant, "missing", 0.5).await.unwrap();
    }
    store.append("s", 0, vec![record(1)]).await.unwrap();
    assert!(keys(&mut server.raw(), &server.prefix()).len() > 20);
    assert!(MemoryStore::delete(&store, "tenant deleted", "deleted").await.unwrap());
    for id in ["prefix/1", "prefix/2"] {
        assert_eq!(store.delete_prefix(&format!("tenant {id}"), "prefix").await.unwrap(), 1);
    }
    assert_eq!(store.erase(&Actor::new("tenant erased", "ann")).await.unwrap(), 1);
    clock.advance(std::time::Duration::from_secs(10));
    assert_eq!(store.evict().await.unwrap(), 2);
    assert!(Journal::delete(&store, "s").await.unwrap());
    let format = format!("{{{}}}:format", server.prefix());
    assert_eq!(keys(&mut server.raw(), &server.prefix()), [format.into_bytes()]);
}

#[tokio::test]
async fn two_stores_with_other_prefixes_share_nothing() {
    let server = server_or_return!(SharedServer::connect());
    let (one, other) = (open(&server).await, open(&server).await);
    one.save(MemoryItem::new("a", "")).await.unwrap();
    one.append("s", 0, vec![record(1)]).await.unwrap();
    assert_eq!(other.count(&MemoryFilter::new("local")).await.unwrap(), 0);
    assert_eq!(other.read("s", 0).await.unwrap(), []);
}

#[tokio::test]
async fn many_writers_on_two_connections_lose_nothing() {
    let server = server_or_return!(SharedServer::connect());
    let one = open(&server).await;
    let options = server.options_with(&server.prefix());
    let other = options.open(Arc::new(ManualClock::new())).await.unwrap();
    let writes = (0..500).map(|number| {
        let store = if number % 2 == 0 { &one } else { &other };
        async move {
            match number % 10 {
                0 => store.append("s", 99, Vec::new()).await.is_ok(),
                _ => store.save(MemoryItem::new(format!("{number}"), "x")).await.is_ok(),
            }
        }
    });
    let results = futures_util::future::join_all(writes).await;
    assert_eq!(results.into_iter().filter(|is_written| !is_written).count(), 50);
    assert_eq!(one.count(&MemoryFilter::new("local")).await.unwrap(), 450);
}
