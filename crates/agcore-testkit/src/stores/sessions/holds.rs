//! The right to drive a session.

use agcore_session::{SessionErrorKind, stream_of};
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
