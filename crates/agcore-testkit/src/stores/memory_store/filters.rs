//! Listing and counting.

use std::time::Duration;

use agcore_memory::{Actor, EvictionConfig, MemoryFilter, MemoryItem, Order, Timestamp};

use super::opened::{Opened, open};
use crate::stores::MemoryStoreSubject;

/// Saves items with these ids, one each second.
async fn with_items(subject: &dyn MemoryStoreSubject, ids: &[&str]) -> Opened {
    let opened = open(subject, EvictionConfig::new()).await;
    for id in ids {
        opened.save(MemoryItem::new(*id, "")).await;
    }
    opened
}

async fn check(opened: &Opened, filter: MemoryFilter, expected: &[&str]) {
    assert_eq!(opened.ids(filter.clone()).await, expected, "{filter:?}");
    let count = opened.store.count(&filter.with_offset(0)).await.unwrap();
    assert_eq!(count, expected.len() as u64);
}

/// Checks that lists are ordered by time of creation, then by the bytes of the id, in both directions.
pub async fn lists_in_a_stable_order(subject: &dyn MemoryStoreSubject) {
    let opened = with_items(subject, &["z"]).await;
    let same_time = ["b", "a", "B", "é", "aa", "Z"].map(|id| MemoryItem::new(id, ""));
    opened.store.save_many(same_time.to_vec()).await.unwrap();
    opened.clock.advance(Duration::from_secs(1));
    opened.save(MemoryItem::new("z", "saved again")).await;
    let expected = ["z", "B", "Z", "a", "aa", "b", "é"];
    check(&opened, MemoryFilter::new("local"), &expected).await;
    let newest_first: Vec<&str> = expected.into_iter().rev().collect();
    let filter = MemoryFilter::new("local").with_order(Order::NewestFirst);
    check(&opened, filter, &newest_first).await;
}

/// Checks that pages of a list together are the list. The count does not depend on the page.
pub async fn pages_through_a_list(subject: &dyn MemoryStoreSubject) {
    let opened = with_items(subject, &["a", "b", "c", "d", "e"]).await;
    for order in [Order::OldestFirst, Order::NewestFirst] {
        let filter = MemoryFilter::new("local").with_order(order);
        let all = opened.ids(filter.clone()).await;
        let mut paged = Vec::new();
        for offset in (0..6).step_by(2) {
            let page = filter.clone().with_offset(offset).with_limit(2);
            assert_eq!(opened.store.count(&page).await.unwrap(), 5);
            paged.extend(opened.ids(page).await);
        }
        assert_eq!(paged, all);
        assert_eq!(opened.ids(filter.clone().with_limit(0)).await, [""; 0]);
        assert_eq!(opened.ids(filter.clone().with_offset(3)).await, all[3..]);
        assert_eq!(
            opened.ids(filter.with_offset(u64::MAX).with_limit(u64::MAX)).await,
            [""; 0]
        );
    }
}

/// Checks that both ends of an interval of time are exclusive.
pub async fn filters_by_time(subject: &dyn MemoryStoreSubject) {
    let opened = with_items(subject, &["a", "b", "c"]).await;
    let time = opened.get("b").await.unwrap().created_at;
    let before = Timestamp::from_millis(time.as_millis() - 1);
    let filter = |since, until| MemoryFilter::new("local").with_created(since, until);
    check(&opened, filter(Some(time), None), &["c"]).await;
    check(&opened, filter(None, Some(time)), &["a"]).await;
    check(
        &opened,
        filter(Some(before), Some(time.after(Duration::from_millis(1)))),
        &["b"],
    )
    .await;
    check(&opened, filter(Some(time), Some(time)), &[]).await;
}

/// Checks that entries of the metadata are compared with their type, and all of them must be equal.
pub async fn filters_by_metadata(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let item = |id: &str| MemoryItem::new(id, "");
    opened
        .save(item("text").with_metadata("x", "1").with_metadata("y", true))
        .await;
    opened
        .save(item("number").with_metadata("x", 1).with_metadata("y", true))
        .await;
    opened
        .save(item("nested").with_metadata("x", serde_json::json!({"x": 1})))
        .await;
    opened.save(item("dotted").with_metadata("a.b'\"[0]", "日本")).await;
    opened.save(item("none")).await;
    let filter = MemoryFilter::new("local");
    check(&opened, filter.clone().with_metadata("x", "1"), &["text"]).await;
    check(&opened, filter.clone().with_metadata("x", 1), &["number"]).await;
    check(&opened, filter.clone().with_metadata("y", true), &["text", "number"]).await;
    check(
        &opened,
        filter.clone().with_metadata("y", true).with_metadata("x", 1),
        &["number"],
    )
    .await;
    check(&opened, filter.clone().with_metadata("y", 1), &[]).await;
    check(&opened, filter.clone().with_metadata("a.b'\"[0]", "日本"), &["dotted"]).await;
    check(&opened, filter.with_metadata("a", "日本"), &[]).await;
}

/// Checks that the owner is compared with its line of business.
pub async fn filters_by_owner(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let (ann, ben) = (Actor::user("ann"), Actor::user("ben"));
    let sales = ann.clone().with_line("sales");
    for (id, owner) in [("a", &ann), ("b", &ben), ("s", &sales)] {
        opened.save(MemoryItem::new(id, "").with_owner(owner.clone())).await;
    }
    check(&opened, MemoryFilter::owned_by(ann), &["a"]).await;
    check(&opened, MemoryFilter::owned_by(sales), &["s"]).await;
    check(&opened, MemoryFilter::owned_by(Actor::new("other", "ann")), &[]).await;
    check(&opened, MemoryFilter::new("local"), &["a", "b", "s"]).await;
}

/// Checks that the interval of validity includes its beginning and excludes its end.
pub async fn filters_by_validity(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let at = Timestamp::from_millis;
    let intervals = [
        ("always", None, None),
        ("from", Some(at(10)), None),
        ("until", None, Some(at(10))),
        ("within", Some(at(5)), Some(at(15))),
    ];
    for (id, from, until) in intervals {
        opened.save(MemoryItem::new(id, "").with_validity(from, until)).await;
    }
    let filter = |time| MemoryFilter::new("local").with_valid_at(at(time));
    check(&opened, filter(4), &["always", "until"]).await;
    check(&opened, filter(5), &["always", "until", "within"]).await;
    check(&opened, filter(10), &["always", "from", "within"]).await;
    check(&opened, filter(15), &["always", "from"]).await;
}

/// Checks that erasing a user removes the items of all lines of business, and no others.
pub async fn erases_a_user(subject: &dyn MemoryStoreSubject) {
    let opened = open(subject, EvictionConfig::new()).await;
    let ann = Actor::user("ann");
    let owners = [
        ann.clone(),
        ann.clone().with_line("sales"),
        Actor::user("ben"),
        Actor::new("other", "ann"),
    ];
    for (id, owner) in ["1", "2", "3", "4"].into_iter().zip(owners) {
        opened.save(MemoryItem::new(id, "").with_owner(owner)).await;
    }
    assert_eq!(opened.store.erase(&ann).await.unwrap(), 2);
    assert_eq!(opened.store.erase(&ann).await.unwrap(), 0);
    check(&opened, MemoryFilter::new("local"), &["3"]).await;
    check(&opened, MemoryFilter::new("other"), &["4"]).await;
}
