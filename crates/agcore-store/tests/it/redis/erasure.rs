//! Erasure: nothing of a user is left in the memory of the server and in files that it writes afterwards.

use std::{fs, path::Path, sync::Arc};

use agcore_memory::{Actor, MemoryItem, MemoryStore};
use agcore_testkit::clock::ManualClock;
use redis::{Connection, Value};

use super::{SharedServer, private_server::PrivateServer, server_or_return, shared_server::keys};

const ERASED: &str = "PLUMTREE";
const KEPT: &str = "KEPTWORD";

/// Saves items of two users. Everything of one of them contains a word.
async fn fill(store: &dyn MemoryStore) -> Actor {
    let user = |word: &str| Actor::new("acme", format!("user {word}")).with_line(format!("line {word}"));
    for number in 0..50 {
        let word = if number % 2 == 0 { ERASED } else { KEPT };
        let item = MemoryItem::new(format!("{number} {word}"), word.repeat(number * 20))
            .with_owner(user(word))
            .with_source(word)
            .with_metadata(word, word);
        store.save(item).await.unwrap();
        store
            .record_recall("acme", &format!("{number} {word}"), 0.5)
            .await
            .unwrap();
    }
    user(ERASED)
}

fn contains(bytes: &[u8], word: &str) -> bool {
    bytes.windows(word.len()).any(|window| window == word.as_bytes())
}

/// Returns whether a key or a value contains a word.
fn is_in_memory(connection: &mut Connection, prefix: &str, word: &str) -> bool {
    let mut found = false;
    for key in keys(connection, prefix) {
        let kind: String = redis::cmd("TYPE").arg(&key).query(connection).unwrap();
        let (command, range): (_, &[&str]) = match kind.as_str() {
            "string" => ("GET", &[]),
            "hash" => ("HGETALL", &[]),
            "set" => ("SMEMBERS", &[]),
            "zset" => ("ZRANGE", &["0", "-1"]),
            "list" => ("LRANGE", &["0", "-1"]),
            other => panic!("a key with the type {other}"),
        };
        let value: Value = redis::cmd(command).arg(&key).arg(range).query(connection).unwrap();
        found |= contains(&key, word) || contains(&bytes(value), word);
    }
    found
}

fn bytes(value: Value) -> Vec<u8> {
    match value {
        Value::BulkString(bytes) => bytes,
        Value::Array(values) => values.into_iter().flat_map(bytes).collect(),
        other => panic!("an unexpected value: {other:?}"),
    }
}

fn is_in_files(directory: &Path, word: &str) -> bool {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().any(|path| match path.is_dir() {
        true => is_in_files(&path, word),
        // A socket cannot be read, and the server removes files meanwhile.
        false => fs::read(&path).is_ok_and(|bytes| contains(&bytes, word)),
    })
}

#[tokio::test]
async fn erased_data_is_in_no_key() {
    let server = server_or_return!(SharedServer::connect());
    let store = server.options().open(Arc::new(ManualClock::new())).await.unwrap();
    let owner = fill(&store).await;
    assert!(is_in_memory(&mut server.raw(), &server.prefix(), ERASED));
    assert_eq!(store.erase(&owner).await.unwrap(), 25);
    assert!(is_in_memory(&mut server.raw(), &server.prefix(), KEPT));
    assert!(!is_in_memory(&mut server.raw(), &server.prefix(), ERASED));
}

#[tokio::test]
async fn erased_data_is_not_in_files_that_are_written_afterwards() {
    // Compressed values could not be searched.
    let server = server_or_return!(PrivateServer::start(&["--appendonly", "yes", "--rdbcompression", "no"]));
    let store = server.options().open(Arc::new(ManualClock::new())).await.unwrap();
    let owner = fill(&store).await;
    server.run("SAVE");
    let snapshot = server.directory().join("dump.rdb");
    assert!(contains(&fs::read(&snapshot).unwrap(), ERASED));
    store.erase(&owner).await.unwrap();
    server.run("SAVE");
    let saved = fs::read(&snapshot).unwrap();
    assert!(contains(&saved, KEPT) && !contains(&saved, ERASED));
    assert!(
        is_in_files(server.directory(), ERASED),
        "the append-only file is not rewritten yet"
    );
    server.run("BGREWRITEAOF");
    // The server replaces the file in the background.
    while is_in_files(server.directory(), ERASED) {
        tokio::task::yield_now().await;
    }
    assert!(is_in_files(&server.directory().join("appendonlydir"), KEPT));
}
