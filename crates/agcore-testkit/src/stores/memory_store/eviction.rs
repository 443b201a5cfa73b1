//! Eviction.

use std::{sync::Arc, time::Duration};

use agcore_memory::{EvictionConfig, EvictionPolicy, MemoryFilter, MemoryItem};

use super::opened::open;
use crate::stores::{MemoryStoreSubject, reset_clock::ResetClock};

/// Checks that an item that has expired is not returned, listed or counted, and saving its id makes a new item.
pub async fn expired_items_do_not_exist(subject: &dyn MemoryStoreSubject) {
    let ttl = EvictionPolicy::Ttl(Duration::from_secs(10));
    let opened = open(subject, EvictionConfig::new().with_policy("short/", ttl)).await;
    opened.save(MemoryItem::new("short/a", "")).await;
    opened.save(MemoryItem::new("long", "")).await;
    let first = opened.get("short/a").await.unwrap();
    opened.clock.advance(Duration::from_secs(8));
    assert_eq!(opened.get("short/a").await, None);
    assert_eq!(opened.all_ids().await, ["long"]);
    assert_eq!(opened.store.count(&MemoryFilter::new("local")).await.unwrap(), 1);
    assert!(!opened.store.delete("local", "short/a").await.unwrap());
    opened.save(MemoryItem::new("short/b", "")).await;
    opened.clock.advance(Duration::from_secs(20));
    opened.save(MemoryItem::new("short/b", "")).await;
    assert!(opened.get("short/b").await.unwrap().created_at > first.created_at.after(Duration::from_secs(20)));
    opened.clock.advance(Duration::from_secs(20));
    assert_eq!(opened.store.delete_prefix("local", "short/").await.unwrap(), 0);
}

/// Checks that a full store removes the items that were created first, of each tenant on its own.
pub async fn evicts_by_capacity(subject: &dyn MemoryStoreSubject) {
    let config = EvictionConfig::new()
        .with_default(EvictionPolicy::Capacity { max_items: 2 })
        .with_policy("kept/", EvictionPolicy::Keep)
        .with_check_interval(1);
    let opened = open(subject, config).await;
    let other = agcore_memory::Actor::new("other", "ann");
    opened.save(MemoryItem::new("x", "").with_owner(other)).await;
    for id in ["a", "kept/1", "b", "a", "c"] {
        opened.save(MemoryItem::new(id, "")).await;
    }
    assert_eq!(opened.all_ids().await, ["kept/1", "b", "c"]);
    assert_eq!(opened.store.count(&MemoryFilter::new("other")).await.unwrap(), 1);
}

/// Checks that items that searches return often are kept longer.
pub async fn evicts_by_recall_value(subject: &dyn MemoryStoreSubject) {
    let policy = EvictionPolicy::RecallValue {
        max_items: 2,
        half_life: EvictionPolicy::HALF_LIFE,
    };
    let config = EvictionConfig::new().with_default(policy).with_check_interval(u32::MAX);
    let opened = open(subject, config).await;
    for id in ["a", "b", "c", "d"] {
        opened.save(MemoryItem::new(id, "")).await;
    }
    for (id, score) in [("a", 0.9), ("a", 0.7), ("b", 0.5), ("c", 0.1), ("missing", 1.0)] {
        opened.store.record_recall("local", id, score).await.unwrap();
    }
    assert_eq!(opened.all_ids().await.len(), 4, "the interval is not over");
    assert_eq!(opened.store.evict().await.unwrap(), 2);
    assert_eq!(opened.all_ids().await, ["a", "b"]);
    assert_eq!(opened.store.evict().await.unwrap(), 0);
}

/// Checks that a policy for the whole store does not touch knowledge, session memory and conversations.
pub async fn reserved_items_are_not_evicted(subject: &dyn MemoryStoreSubject) {
    let config = EvictionConfig::new()
        .with_default(EvictionPolicy::Hybrid {
            ttl: Duration::from_secs(1),
            max_items: 0,
            half_life: EvictionPolicy::HALF_LIFE,
        })
        .with_check_interval(1);
    let opened = open(subject, config).await;
    let reserved = ["knowledge_page", "_session_x/key", "conversation_y/1"];
    for id in reserved.into_iter().chain(["other"]) {
        opened.save(MemoryItem::new(id, "")).await;
    }
    opened.clock.advance(Duration::from_secs(60));
    opened.store.evict().await.unwrap();
    assert_eq!(opened.all_ids().await, reserved);
}

/// Checks that a clock that goes backwards neither loses items nor changes the time of creation.
pub async fn a_clock_that_goes_backwards_does_no_harm(subject: &dyn MemoryStoreSubject) {
    let clock = ResetClock::new(2_000_000_000);
    let ttl = EvictionPolicy::Ttl(Duration::from_secs(10));
    let eviction = EvictionConfig::new().with_default(ttl).with_check_interval(1);
    let store = subject.memory_store(Arc::clone(&clock) as _, eviction).await;
    store.save(MemoryItem::new("a", "")).await.unwrap();
    let first = store.get("local", "a").await.unwrap().unwrap();
    clock.set(1_000_000_000);
    store.save(MemoryItem::new("b", "")).await.unwrap();
    store.save(MemoryItem::new("a", "again")).await.unwrap();
    let second = store.get("local", "a").await.unwrap().unwrap();
    assert_eq!(
        (second.content.as_str(), second.created_at),
        ("again", first.created_at)
    );
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 2);
}
