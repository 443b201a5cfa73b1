//! Data that others have changed, or that a newer version has written.

use std::sync::Arc;

use agcore_memory::{MemoryErrorKind, MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{Journal, Record, SessionErrorKind, Timestamp};
use agcore_store::{StoreErrorKind, redis::RedisStore};
use agcore_testkit::clock::ManualClock;
use serde_json::json;

use super::{SharedServer, server_or_return};

async fn open(server: &SharedServer) -> RedisStore {
    server.options().open(Arc::new(ManualClock::new())).await.unwrap()
}

fn run(server: &SharedServer, words: &[&str]) {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]).exec(&mut server.raw()).unwrap();
}

#[tokio::test]
async fn other_formats_are_refused() {
    let server = server_or_return!(SharedServer::connect());
    open(&server).await.close().await;
    let prefix = server.prefix();
    let format = format!("{{{prefix}}}:format");
    for (version, expected) in [
        (
            "2",
            "its data has version 2, but this program knows versions up to 1: use a newer program",
        ),
        ("0", "does not hold a version: use another prefix of keys"),
        ("text", "does not hold a version"),
    ] {
        run(&server, &["SET", &format, version]);
        let opened = server.options_with(&prefix).open(Arc::new(ManualClock::new())).await;
        let error = opened.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Serialization);
        assert!(error.message().contains(expected), "{error:?}");
    }
    run(&server, &["DEL", &format]);
    run(&server, &["RPUSH", &format, "1"]);
    let opened = server.options_with(&prefix).open(Arc::new(ManualClock::new())).await;
    assert!(
        opened
            .unwrap_err()
            .message()
            .contains("another program seems to use the same prefix")
    );
}

#[tokio::test]
async fn damaged_items_are_reported_and_harm_no_others() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    for id in ["a", "b"] {
        store.save(MemoryItem::new(id, "")).await.unwrap();
    }
    let key = format!("{{{}}}:item:local:a", server.prefix());
    for (field, value, expected) in [
        (
            "metadata",
            "{",
            "the metadata of the item `a` is damaged: its JSON cannot be read",
        ),
        ("content", "\u{1}", ""),
        ("until", "soon", "the validity of the item `a` is damaged"),
        ("updated", "", "the time of the last save of the item `a` is damaged"),
    ] {
        store.save(MemoryItem::new("a", "")).await.unwrap();
        run(&server, &["HSET", &key, field, value]);
        let found = store.get("local", "a").await;
        if expected.is_empty() {
            found.unwrap();
            continue;
        }
        let error = found.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (MemoryErrorKind::Serialization, expected)
        );
        let error = store.list(&MemoryFilter::new("local")).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::Serialization, "{error:?}");
    }
    assert!(store.get("local", "b").await.unwrap().is_some());
    assert!(store.list(&MemoryFilter::new("local").with_prefix("b")).await.is_ok());
    store.save(MemoryItem::new("a", "saved again")).await.unwrap();
    assert_eq!(store.list(&MemoryFilter::new("local")).await.unwrap().len(), 2);
    run(&server, &["DEL", &key]);
    assert_eq!(store.list(&MemoryFilter::new("local")).await.unwrap().len(), 1);
    assert!(!MemoryStore::delete(&store, "local", "a").await.unwrap());
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 1);
}

#[tokio::test]
async fn keys_of_another_type_are_reported_and_nothing_is_written() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    let prefix = server.prefix();
    for name in [
        "ids:local",
        "created:local",
        "updated:local",
        "owners:local",
        "item:local:b",
    ] {
        let key = format!("{{{prefix}}}:{name}");
        run(&server, &["SET", &key, "something else"]);
        let items = ["a", "b"].map(|id| MemoryItem::new(id, ""));
        let error = store.save_many(items.to_vec()).await.unwrap_err();
        assert_eq!(error.kind(), MemoryErrorKind::Serialization, "{error:?}");
        assert!(error.message().contains("another program"), "{error:?}");
        assert_eq!(store.get("local", "a").await.unwrap(), None, "{name}");
        run(&server, &["DEL", &key]);
    }
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 0);
    for part in ["end", "records"] {
        let key = format!("{prefix}:stream:{{s}}:{part}");
        run(&server, &["SADD", &key, "something else"]);
        let record = Record::new("k", 1, Timestamp::default(), json!(1));
        let error = store.append("s", 0, vec![record]).await.unwrap_err();
        assert_eq!(error.kind(), SessionErrorKind::Serialization, "{error:?}");
        assert_eq!(
            store.read("s", 0).await.unwrap_err().kind(),
            SessionErrorKind::Serialization
        );
        run(&server, &["DEL", &key]);
        assert_eq!(store.read("s", 0).await.unwrap(), []);
    }
}

#[tokio::test]
async fn damaged_streams_are_reported() {
    let server = server_or_return!(SharedServer::connect());
    let store = open(&server).await;
    let record = || Record::new("k", 1, Timestamp::default(), json!(1));
    store.append("s", 0, vec![record(), record(), record()]).await.unwrap();
    let key = |part: &str| format!("{}:stream:{{s}}:{part}", server.prefix());
    run(&server, &["LSET", &key("records"), "0", "["]);
    let message = |error: agcore_session::SessionError| error.message().to_owned();
    let error = store.read("s", 0).await.unwrap_err();
    assert_eq!(
        message(error),
        "record 1 of the stream `s` is damaged: its JSON cannot be read"
    );
    assert_eq!(store.read("s", 2).await.unwrap().len(), 2);
    run(&server, &["RPOP", &key("records")]);
    let error = store.read("s", 3).await.unwrap_err();
    assert_eq!(
        message(error),
        "record 3 of the stream `s` is damaged: record 2 is in its place"
    );
    run(&server, &["SET", &key("end"), "soon"]);
    for error in [
        store.read("s", 0).await.unwrap_err(),
        store.trim("s", 1).await.unwrap_err(),
        store.append("s", 3, vec![record()]).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), SessionErrorKind::Serialization, "{error:?}");
    }
    assert!(Journal::delete(&store, "s").await.unwrap());
    assert_eq!(store.append("s", 0, vec![record()]).await.unwrap(), 1);
}
