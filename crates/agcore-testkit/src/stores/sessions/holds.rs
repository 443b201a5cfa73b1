//! The right to drive a session.

use agcore_session::{Hold, SessionError, SessionErrorKind, stream_of};
use futures_util::future::join_all;

use super::opened::{open, open_twice};
use crate::stores::SessionStoreSubject;

/// A hold excludes every other one of the same name, on the same handle and on another, until it is dropped.
pub async fn one_holder_at_a_time(subject: &dyn SessionStoreSubject) {
    let [one, other] = open_twice(subject).await;
    let name = stream_of("acme", "s/1");
    let hold = one.store.hold(&name).await.unwrap();
    for store in [&one.store, &other.store] {
        let refused = store.hold(&name).await.unwrap_err();
        assert_eq!(refused.kind(), SessionErrorKind::Held);
        assert!(refused.is_recoverable());
    }
    let elsewhere = other.store.hold(&stream_of("acme", "s/2")).await.unwrap();
    let of_another_tenant = other.store.hold(&stream_of("evil", "s/1")).await.unwrap();
    assert!(!hold.is_lost(), "no other holder has it");
    drop(hold);
    let hold = other.store.hold(&name).await.unwrap();
    assert_eq!(one.store.hold(&name).await.unwrap_err().kind(), SessionErrorKind::Held);
    drop((hold, elsewhere, of_another_tenant));
    drop(one.store.hold(&name).await.unwrap());
}

/// One of many that want the same at once gets it; and all of them do, one after the other.
pub async fn of_many_holders_one_wins(subject: &dyn SessionStoreSubject) {
    let [one, other] = open_twice(subject).await;
    for _ in 0..3 {
        let stores = (0..16).map(|number| if number % 2 == 0 { &one.store } else { &other.store });
        let taken = join_all(stores.map(|store| store.hold("name"))).await;
        let won = taken.iter().filter(|taken| taken.is_ok()).count();
        assert_eq!(won, 1, "{taken:?}");
    }
}

/// Errors name the holder, and since when it is one.
pub async fn a_held_session_has_a_known_holder(subject: &dyn SessionStoreSubject) {
    let opened = open(subject).await;
    // Stores may keep whole seconds.
    let from = opened.clock_now().as_millis() / 1000;
    let hold = opened.store.hold("name").await.unwrap();
    opened.wait();
    let refused = opened.store.hold("name").await.unwrap_err();
    let holder = refused.holder().unwrap();
    assert_eq!(holder.since.as_millis() / 1000, from);
    assert!(!holder.program.is_empty());
    assert!(refused.message().contains(&holder.to_string()), "{refused}");
    drop(hold);
    let unacceptable = opened.store.hold("").await.unwrap_err();
    assert_eq!(unacceptable.kind(), SessionErrorKind::InvalidInput);
}

/// Any number share a hold, on the same handle and on another. It is refused to those who want it alone, with one of those who
/// share it as the holder, until the last of them has dropped it.
pub async fn any_number_share_a_hold(subject: &dyn SessionStoreSubject) {
    let [one, other] = open_twice(subject).await;
    let first = one.store.hold_shared("name").await.unwrap();
    let from = one.clock_now().as_millis() / 1000;
    one.wait();
    let second = one.store.hold_shared("name").await.unwrap();
    let third = other.store.hold_shared("name").await.unwrap();
    for store in [&one.store, &other.store] {
        let since = refused(store.hold("name").await);
        assert!(since == from || since == from + 1, "no holder since {since}");
    }
    drop(first);
    for store in [&one.store, &other.store] {
        assert_eq!(refused(store.hold("name").await), from + 1);
    }
    drop(second);
    for store in [&one.store, &other.store] {
        assert_eq!(refused(store.hold("name").await), from + 1);
    }
    let elsewhere = one.store.hold("other").await.unwrap();
    assert!(!third.is_lost(), "no other holder has it");
    drop((third, elsewhere));
    let alone = one.store.hold("name").await.unwrap();
    refused(other.store.hold("name").await);
    drop(alone);
    let unacceptable = one.store.hold_shared("").await.unwrap_err();
    assert_eq!(unacceptable.kind(), SessionErrorKind::InvalidInput);
}

/// Checks that a hold that one holder has alone is shared only after it was dropped, and that errors name the holder.
pub async fn a_hold_is_not_shared(subject: &dyn SessionStoreSubject) {
    let [one, other] = open_twice(subject).await;
    let from = one.clock_now().as_millis() / 1000;
    let alone = one.store.hold("name").await.unwrap();
    one.wait();
    for store in [&one.store, &other.store] {
        assert_eq!(refused(store.hold_shared("name").await), from);
    }
    drop(alone);
    let shared = other.store.hold_shared("name").await.unwrap();
    let more = one.store.hold_shared("name").await.unwrap();
    drop((shared, more));
    drop(one.store.hold("name").await.unwrap());
    drop(other.store.hold_shared("name").await.unwrap());
}

/// Checks that of many that want the same at once, some of them alone, either one gets it alone or all others share it.
pub async fn many_share_or_one_holds(subject: &dyn SessionStoreSubject) {
    let [one, other] = open_twice(subject).await;
    for _ in 0..3 {
        let stores = (0..16).map(|number| (number, if number / 2 % 2 == 0 { &one.store } else { &other.store }));
        let taken = join_all(stores.map(async |(number, store)| {
            let is_shared = number % 2 == 1;
            let taken = if is_shared {
                store.hold_shared("name")
            } else {
                store.hold("name")
            };
            (is_shared, taken.await)
        }))
        .await;
        let [alone, shared] = [false, true].map(|form| {
            let won = taken
                .iter()
                .filter(|(is_shared, taken)| *is_shared == form && taken.is_ok());
            won.count()
        });
        assert!(matches!((alone, shared), (1, 0) | (0, 8)), "{taken:?}");
    }
}

/// Checks that a hold was refused and that the error names the holder. Returns the second since which that one has it.
fn refused(taken: Result<Hold, SessionError>) -> i64 {
    let refused = taken.unwrap_err();
    assert_eq!(refused.kind(), SessionErrorKind::Held);
    let holder = refused.holder().unwrap();
    assert!(!holder.program.is_empty());
    assert!(refused.message().contains(&holder.to_string()), "{refused}");
    holder.since.as_millis() / 1000
}
