//! The behaviors of memory stores whose calls fail, lose their answers, wait or are abandoned: what callers can rely on when they
//! repeat a call. Each function checks one of them on a [`FaultyStore`] around the subject's store, and panics with the reason if
//! it fails.

#![expect(
    clippy::missing_panics_doc,
    clippy::unwrap_used,
    reason = "a check panics if it fails"
)]

use std::{sync::Arc, time::Duration};

use agcore_memory::{
    Actor, Clock, EvictionConfig, InMemoryStore, MemoryError, MemoryErrorKind, MemoryFilter, MemoryItem, MemoryStore,
};
use futures_util::future::join_all;

use crate::{
    clock::ManualClock,
    stores::{
        MemoryStoreSubject,
        faulty::{FaultPlan, FaultyStore, StoreFault},
    },
};

type Faulty = FaultyStore<Arc<dyn MemoryStore>>;

/// Opens an empty store whose calls go wrong.
async fn open(subject: &dyn MemoryStoreSubject, plan: FaultPlan) -> (Faulty, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::new());
    let store = subject
        .memory_store(Arc::clone(&clock) as Arc<dyn Clock>, EvictionConfig::new())
        .await;
    (FaultyStore::new(store, plan), clock)
}

async fn all(store: &dyn MemoryStore) -> Vec<MemoryItem> {
    store.list(&MemoryFilter::new("local")).await.unwrap()
}

/// A write, chosen by a number.
async fn write(store: &dyn MemoryStore, number: u64) -> Result<(), MemoryError> {
    let id = |number: u64| format!("{}/{}", number % 3, number % 7);
    let owner = Actor::user(format!("user {}", number % 2));
    let item = |number: u64| MemoryItem::new(id(number), format!("{number}")).with_owner(owner.clone());
    match number % 8 {
        0..=2 => store.save(item(number)).await,
        3 | 4 => store.save_many(vec![item(number), item(number * 5)]).await,
        5 => store.delete("local", &id(number * 3)).await.map(drop),
        6 => store
            .delete_prefix("local", &format!("{}/", number % 3))
            .await
            .map(drop),
        _ => store.erase(&owner).await.map(drop),
    }
}

/// Checks that calls that fail before they take place change nothing, and that the others are not affected by them.
pub async fn survives_failed_calls(subject: &dyn MemoryStoreSubject) {
    let (store, clock) = open(subject, FaultPlan::random(1, [StoreFault::Fail])).await;
    let model = InMemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
    let mut failed = 0;
    for number in 0..200 {
        match write(&store, number).await {
            Ok(()) => write(&model, number).await.unwrap(),
            Err(error) => {
                assert_eq!(error.kind(), MemoryErrorKind::Unavailable);
                failed += 1;
            }
        }
        clock.advance(Duration::from_millis(1));
        assert_eq!(all(store.inner()).await, all(&model).await, "after write {number}");
    }
    assert!(failed > 20, "{failed} calls failed");
}

/// Checks that a write that is repeated until its answer arrives has the effect of one: writes of items can be repeated.
pub async fn repeated_writes_have_one_effect(subject: &dyn MemoryStoreSubject) {
    let faults = [StoreFault::Fail, StoreFault::LoseAnswer];
    let (store, clock) = open(subject, FaultPlan::random(2, faults)).await;
    let model = InMemoryStore::new(Arc::clone(&clock) as Arc<dyn Clock>);
    for number in 0..200 {
        while let Err(error) = write(&store, number).await {
            assert_eq!(error.kind(), MemoryErrorKind::Unavailable, "{error}");
        }
        write(&model, number).await.unwrap();
        clock.advance(Duration::from_millis(1));
        assert_eq!(all(store.inner()).await, all(&model).await, "after write {number}");
    }
    let lost = store.recorded_calls();
    let lost = lost.iter().filter(|call| call.fault == Some(StoreFault::LoseAnswer));
    assert!(lost.count() > 10, "too few answers were lost");
}

/// Checks that of a save whose future was dropped, everything is stored or nothing.
pub async fn abandoned_saves_are_whole(subject: &dyn MemoryStoreSubject) {
    let plan = FaultPlan::from_fn(|number, _| {
        Some(StoreFault::Abandon {
            polls: u32::try_from(number % 12).unwrap_or(0),
        })
    });
    let (store, _clock) = open(subject, plan).await;
    for number in 0..60 {
        let items = ["a", "b", "c"].map(|id| MemoryItem::new(id, format!("{number}")));
        let abandoned = store.save_many(items.to_vec()).await;
        assert_eq!(abandoned.unwrap_err().kind(), MemoryErrorKind::Unavailable);
        // The write may also take place later, but never in parts.
        for _ in 0..3 {
            let items = all(store.inner()).await;
            assert!(
                items.is_empty() || items.len() == 3,
                "{} of 3 items are stored",
                items.len()
            );
            let same = items.iter().all(|item| item.content == items[0].content);
            assert!(same, "parts of two writes are stored");
        }
    }
    store.inner().save(MemoryItem::new("z", "")).await.unwrap();
    assert!(store.inner().get("local", "z").await.unwrap().is_some());
}

/// Checks that of writes that were held up, the one that arrives last counts, and the item keeps its first time.
pub async fn delayed_saves_keep_their_order(subject: &dyn MemoryStoreSubject) {
    const WRITERS: usize = 8;
    let plan = FaultPlan::from_fn(|_, _| Some(StoreFault::Hold));
    let (store, clock) = open(subject, plan).await;
    let first = clock.now();
    // Released in another order than they were started.
    let order = [3, 0, 7, 1, 6, 2, 5, 4];
    let (arrived, arrivals) = tokio::sync::watch::channel(0);
    let writes = (0..WRITERS).map(|writer| {
        let (store, arrived) = (&store, &arrived);
        async move {
            let saved = store.save(MemoryItem::new("a", format!("{writer}"))).await;
            arrived.send_modify(|arrived| *arrived += 1);
            saved
        }
    });
    let release = async {
        store.wait_for_held(WRITERS).await;
        for (place, writer) in order.into_iter().enumerate() {
            assert!(store.release(writer));
            let mut arrivals = arrivals.clone();
            let _ = arrivals.wait_for(|arrived| *arrived == place + 1).await;
            clock.advance(Duration::from_secs(1));
        }
    };
    let (saved, ()) = tokio::join!(join_all(writes), release);
    for saved in saved {
        saved.unwrap();
    }
    let item = store.inner().get("local", "a").await.unwrap().unwrap();
    assert_eq!(item.content, order[WRITERS - 1].to_string());
    assert_eq!(item.created_at, first.into());
    assert_eq!(item.updated_at, item.created_at.after(Duration::from_secs(7)));
}
