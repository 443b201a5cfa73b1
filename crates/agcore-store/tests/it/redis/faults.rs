//! A server in trouble: every error has a kind, a reason and advice.

use std::{sync::Arc, time::Duration};

use agcore_memory::{MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{Actor, Journal, Record, Timestamp};
use agcore_store::{
    StoreError, StoreErrorKind,
    redis::{ReconnectPolicy, RedisOptions, RedisStore},
};
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use super::{
    fake_server::{Answer, FakeServer, healthy},
    private_server::PrivateServer,
    server_or_return,
};

async fn open(options: RedisOptions) -> Result<RedisStore, StoreError> {
    options.open(Arc::new(ManualClock::new())).await
}

#[track_caller]
fn check<T: std::fmt::Debug>(result: Result<T, impl Into<StoreError>>, kind: StoreErrorKind, expected: &str) {
    let error: StoreError = result.unwrap_err().into();
    assert_eq!(error.kind(), kind, "{error:?}");
    assert!(error.message().contains(expected), "{error:?}");
    assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
}

#[tokio::test]
async fn a_server_that_does_not_run_is_reported_with_its_address() {
    let clock = Arc::new(ManualClock::jumping());
    let options = RedisOptions::new("redis://ann:s3cret@127.0.0.1:1/2").unwrap();
    let delays = [5, 10, 12, 12].map(Duration::from_millis);
    let policy = ReconnectPolicy::new()
        .with_attempts(5)
        .with_delays(delays[0], delays[3]);
    let result = options.with_reconnect(policy).open(Arc::clone(&clock) as _).await;
    check(
        result,
        StoreErrorKind::Unavailable,
        "cannot connect to redis://127.0.0.1:1/2: the connection was refused; check the address",
    );
    assert_eq!(clock.sleeps(), delays);
}

#[tokio::test]
async fn passwords_and_rights_are_checked() {
    let server = server_or_return!(PrivateServer::start(&["--requirepass", "right"]));
    let wrong = server.url() + "?pass=s3cret";
    for (url, expected) in [
        (server.url(), "the server requires a password"),
        (wrong, "the server refuses the user or the password"),
    ] {
        check(
            open(RedisOptions::new(&url).unwrap()).await,
            StoreErrorKind::Storage,
            expected,
        );
    }
    let url = server.url() + "?pass=right";
    open(RedisOptions::new(&url).unwrap()).await.unwrap();
    let mut raw = redis::Client::open(url).unwrap().get_connection().unwrap();
    let mut user = redis::cmd("ACL");
    user.arg(&[
        "SETUSER",
        "reader",
        "on",
        ">s3cret",
        "~*",
        "+@read",
        "+@connection",
        "+set",
    ]);
    user.exec(&mut raw).unwrap();
    let options = RedisOptions::new(&(server.url() + "?user=reader&pass=s3cret")).unwrap();
    let store = open(options).await.unwrap();
    assert_eq!(store.get("local", "a").await.unwrap(), None);
    let saved = store.save(MemoryItem::new("a", "")).await;
    check(
        saved,
        StoreErrorKind::Storage,
        "the user may not run a command or use a key",
    );
}

#[tokio::test]
async fn a_full_memory_refuses_writes_as_a_whole_and_lets_items_be_deleted() {
    let server = server_or_return!(PrivateServer::start(&[]));
    let store = open(server.options()).await.unwrap();
    let record = || Record::new("k", 1, Timestamp::default(), json!("x".repeat(100)));
    for id in ["a", "b"] {
        store.save(MemoryItem::new(id, "old")).await.unwrap();
    }
    store.append("s", 0, vec![record()]).await.unwrap();
    server.run("CONFIG SET maxmemory 1");
    let full = "the memory of the server is full; delete data or raise `maxmemory`";
    for ids in [&["c"][..], &["a"], &["a", "c", "d"]] {
        let items = ids
            .iter()
            .map(|id| MemoryItem::new(*id, "new").with_owner(Actor::user("ann")));
        check(store.save_many(items.collect()).await, StoreErrorKind::Storage, full);
    }
    check(
        store.append("s", 1, vec![record()]).await,
        StoreErrorKind::Storage,
        full,
    );
    check(
        store.append("t", 0, vec![record()]).await,
        StoreErrorKind::Storage,
        full,
    );
    let items = store.list(&MemoryFilter::new("local")).await.unwrap();
    let contents: Vec<_> = items
        .iter()
        .map(|item| (item.id.as_str(), item.content.as_str()))
        .collect();
    assert_eq!(contents, [("a", "old"), ("b", "old")]);
    assert_eq!(store.read("s", 0).await.unwrap().len(), 1);
    assert_eq!(
        store.count(&MemoryFilter::owned_by(Actor::user("ann"))).await.unwrap(),
        0
    );
    assert!(MemoryStore::delete(&store, "local", "a").await.unwrap());
    assert_eq!(store.delete_prefix("local", "b").await.unwrap(), 1);
    assert!(Journal::delete(&store, "s").await.unwrap());
    open(server.options()).await.unwrap();
    server.run("CONFIG SET maxmemory 0");
    store.save(MemoryItem::new("c", "")).await.unwrap();
}

#[tokio::test]
async fn a_replica_is_not_written_to() {
    let server = server_or_return!(PrivateServer::start(&[]));
    let store = open(server.options()).await.unwrap();
    store.save(MemoryItem::new("a", "")).await.unwrap();
    server.run("REPLICAOF 127.0.0.1 1");
    let saved = store.save(MemoryItem::new("b", "")).await;
    check(saved, StoreErrorKind::Unavailable, "the server is a read-only replica");
    let other = server.options().with_key_prefix("other");
    check(
        open(other).await,
        StoreErrorKind::Unavailable,
        "the server is a read-only replica",
    );
    server.run("CONFIG SET replica-serve-stale-data no");
    check(
        store.get("local", "a").await,
        StoreErrorKind::Unavailable,
        "the server has lost its primary",
    );
    server.run("REPLICAOF NO ONE");
    store.save(MemoryItem::new("b", "")).await.unwrap();
}

#[tokio::test]
async fn a_cluster_is_refused() {
    let server = server_or_return!(PrivateServer::start(&["--cluster-enabled", "yes"]));
    check(
        open(server.options()).await,
        StoreErrorKind::Storage,
        "Redis Cluster, which is not supported",
    );
}

#[tokio::test]
async fn answers_of_a_server_in_trouble_have_reasons() {
    for (answer, kind, expected) in [
        (
            "-LOADING Redis is loading\r\n",
            StoreErrorKind::Unavailable,
            "still loading its data",
        ),
        (
            "-BUSY Redis is busy\r\n",
            StoreErrorKind::Unavailable,
            "busy with a long script",
        ),
        (
            "-NOREPLICAS Not enough\r\n",
            StoreErrorKind::Unavailable,
            "fewer replicas",
        ),
        (
            "-MISCONF Errors writing\r\n",
            StoreErrorKind::Storage,
            "cannot write to its disk",
        ),
        (
            "-MOVED 1 127.0.0.1:7000\r\n",
            StoreErrorKind::Storage,
            "Redis Cluster, which is not supported",
        ),
        ("-ERR whatever\r\n", StoreErrorKind::Storage, "Redis reported an error"),
        ("+what\r\n", StoreErrorKind::Serialization, "not an answer of Redis"),
        (
            "HTTP/1.1 400 Bad Request\r\n",
            StoreErrorKind::Serialization,
            "not an answer of Redis",
        ),
    ] {
        let server = FakeServer::start(move |command, _| healthy(command).unwrap_or(Answer::Bytes(answer))).await;
        let store = open(server.options()).await.unwrap();
        check(store.get("local", "a").await, kind, expected);
    }
    let server = FakeServer::start(|_, _| Answer::Bytes("-ERR unknown command `HELLO`\r\n")).await;
    check(
        open(server.options()).await,
        StoreErrorKind::Storage,
        "use Redis 6 or newer",
    );
}

#[tokio::test]
async fn a_server_that_is_loading_is_waited_for() {
    let server = FakeServer::start(|command, connection| match (command, connection) {
        ("HELLO", 0 | 1) => Answer::Bytes("-LOADING Redis is loading\r\n"),
        (command, _) => healthy(command).unwrap(),
    })
    .await;
    let clock = Arc::new(ManualClock::jumping());
    let options = server.options().with_reconnect(ReconnectPolicy::new().with_attempts(3));
    options.open(Arc::clone(&clock) as _).await.unwrap();
    assert_eq!(clock.sleeps().len(), 2);
}

#[tokio::test]
async fn a_wrong_password_is_not_tried_twice() {
    let server = FakeServer::start(|_, _| Answer::Bytes("-WRONGPASS invalid\r\n")).await;
    let result = open(server.options().with_reconnect(ReconnectPolicy::new())).await;
    check(result, StoreErrorKind::Storage, "refuses the user or the password");
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn reads_survive_a_lost_connection_and_writes_are_not_repeated() {
    let server = FakeServer::start(|command, connection| match (command, connection) {
        ("HMGET", 1) => Answer::Bytes("*9\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n_\r\n"),
        ("HMGET" | "EVALSHA", _) => Answer::Close,
        (command, _) => healthy(command).unwrap(),
    })
    .await;
    let store = open(server.options()).await.unwrap();
    assert_eq!(store.get("local", "a").await.unwrap(), None);
    assert_eq!(server.connections(), 2);
    let saved = store.save(MemoryItem::new("a", "")).await;
    check(
        saved,
        StoreErrorKind::Unavailable,
        "it is unknown whether the write took place",
    );
    assert_eq!(server.connections(), 2);
    check(
        store.get("local", "a").await,
        StoreErrorKind::Unavailable,
        "cannot read the item",
    );
    assert_eq!(server.connections(), 4, "a read is repeated once");
}

#[tokio::test]
async fn a_server_that_is_silent_is_given_up_and_replaced() {
    let server = FakeServer::start(|command, connection| match (command, connection) {
        ("HMGET" | "EVALSHA", 0) => Answer::Nothing,
        ("EVALSHA", _) => Answer::Bytes("+OK\r\n"),
        (command, _) => healthy(command).unwrap(),
    })
    .await;
    let options = server.options().with_response_timeout(Duration::from_millis(20));
    let store = open(options).await.unwrap();
    let (read, saved) = tokio::join!(store.get("local", "a"), store.save(MemoryItem::new("a", "")));
    check(read, StoreErrorKind::Unavailable, "the server did not answer in time");
    check(
        saved,
        StoreErrorKind::Unavailable,
        "it is unknown whether the write took place",
    );
    store.save(MemoryItem::new("a", "")).await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_restarted_server_is_found_again() {
    // Otherwise the server may write to its file later than it answers.
    let arguments = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut server = server_or_return!(PrivateServer::start(&arguments));
    let store = open(server.options()).await.unwrap();
    store.save(MemoryItem::new("a", "")).await.unwrap();
    server.kill();
    let read = store.get("local", "a").await;
    check(read, StoreErrorKind::Unavailable, "cannot connect to unix://");
    let saved = store.save(MemoryItem::new("b", "")).await;
    check(saved, StoreErrorKind::Unavailable, "cannot connect to unix://");
    server.restart();
    store.save(MemoryItem::new("c", "")).await.unwrap();
    let items = store.list(&MemoryFilter::new("local")).await.unwrap();
    let ids: Vec<&str> = items.iter().map(|item| item.id.as_str()).collect();
    assert_eq!(ids, ["a", "c"]);
}

#[tokio::test]
async fn scripts_that_the_server_forgot_are_sent_again() {
    let server = server_or_return!(PrivateServer::start(&[]));
    let store = open(server.options()).await.unwrap();
    for id in ["a", "b"] {
        server.run("SCRIPT FLUSH");
        store.save(MemoryItem::new(id, "")).await.unwrap();
    }
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 2);
}
