//! Failures while the store is open.

use std::{sync::Arc, time::Duration};

use agcore_memory::{MemoryErrorKind, MemoryFilter, MemoryItem, MemoryStore};
use agcore_session::{Actor, Journal, Record, SessionErrorKind, Timestamp};
use agcore_store::{
    StoreError, StoreErrorKind,
    postgres::{PostgresOptions, PostgresStore},
};
use agcore_testkit::clock::ManualClock;
use futures_util::{FutureExt, future::join_all};
use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use super::{
    proxy::Proxy,
    server::{Names, admin, need_server, options_of, url, url_at},
};

async fn open(options: PostgresOptions) -> PostgresStore {
    options.open(Arc::new(ManualClock::new())).await.unwrap()
}

fn record(number: u64) -> Record {
    Record::new("k", 1, Timestamp::default(), json!(number))
}

/// Another program, with a transaction that holds a lock on the items of a schema.
async fn lock(schema: &str) -> PgConnection {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = format!("BEGIN; LOCK TABLE {schema}.memory_items");
    sqlx::raw_sql(AssertSqlSafe(sql))
        .execute(&mut connection)
        .await
        .unwrap();
    connection
}

/// Waits until a connection of the store waits for a lock.
async fn until_blocked(schema: &str) {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'";
    while sqlx::query_scalar::<_, i64>(sql)
        .bind(schema)
        .fetch_one(&mut connection)
        .await
        .unwrap()
        == 0
    {}
}

fn assert_unavailable(error: &(impl Clone + Into<StoreError>), expected: &str) {
    let error: StoreError = error.clone().into();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error:?}");
    assert!(error.message().contains(expected), "{error:?}");
}

#[tokio::test]
async fn locks_of_others_are_waited_for_and_then_reported() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let options = options_of(&url(), &schema).with_statement_timeout(Duration::from_millis(500));
    let store = open(options).await;
    let other = lock(&schema).await;
    let error = store.save(MemoryItem::new("a", "")).await.unwrap_err();
    assert_unavailable(&error, "took too long and was canceled");
    other.close().await.unwrap();
    store.save(MemoryItem::new("a", "")).await.unwrap();
}

#[tokio::test]
async fn a_pool_without_free_connections_is_reported() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let options = options_of(&url(), &schema)
        .with_pool_size(1)
        .with_acquire_timeout(Duration::from_secs(1));
    let store = open(options).await;
    let other = lock(&schema).await;
    let blocked = tokio::spawn({
        let store = store.clone();
        async move { store.save(MemoryItem::new("a", "")).await }
    });
    until_blocked(&schema).await;
    assert_unavailable(
        &store.get("local", "a").await.unwrap_err(),
        "all connections of the pool (1) are in use",
    );
    other.close().await.unwrap();
    blocked.await.unwrap().unwrap();
    assert!(store.get("local", "a").await.unwrap().is_some());
}

#[tokio::test]
async fn a_server_that_ends_connections_loses_nothing() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(options_of(&url(), &schema)).await;
    store.save(MemoryItem::new("kept", "")).await.unwrap();
    let other = lock(&schema).await;
    let items: Vec<_> = (0..100)
        .map(|number| MemoryItem::new(format!("lost {number}"), ""))
        .collect();
    let blocked = tokio::spawn({
        let store = store.clone();
        async move { store.save_many(items).await }
    });
    until_blocked(&schema).await;
    admin(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{schema}'"
    ))
    .await;
    assert_unavailable(&blocked.await.unwrap().unwrap_err(), "ended the connection");
    other.close().await.unwrap();
    assert_eq!(store.count(&MemoryFilter::new("local")).await.unwrap(), 1);
    store.save(MemoryItem::new("again", "")).await.unwrap();
}

/// Repeats a read while the pool still has connections that were cut.
async fn until_connected<T, E: Into<StoreError>>(read: impl AsyncFn() -> Result<T, E>) -> T {
    loop {
        match read().await {
            Ok(value) => return value,
            Err(error) => {
                let error: StoreError = error.into();
                assert!(error.is_recoverable(), "{error:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_cut_connection_leaves_all_or_nothing() {
    need_server!();
    let names = Names::default();
    let proxy = Proxy::start().await;
    let options = names.options_at(&url_at(proxy.address)).with_pool_size(1);
    let store = open(options).await;
    let (mut written_at_once, mut written_in_doubt, mut not_written) = (0, 0, 0);
    let mut note = |is_ok: bool, is_written: bool| match (is_ok, is_written) {
        (true, true) => written_at_once += 1,
        (true, false) => panic!("an acknowledged write is lost"),
        (false, true) => written_in_doubt += 1,
        (false, false) => not_written += 1,
    };
    // From the first byte of the first answer to the end of the last one.
    for bytes in (0..200).step_by(8) {
        let below = MemoryFilter::new("local").with_prefix(format!("{bytes}/"));
        assert_eq!(until_connected(|| store.count(&below)).await, 0);
        proxy.cut_after(bytes);
        let items = (0..3).map(|number| MemoryItem::new(format!("{bytes}/{number}"), ""));
        let saved = store.save_many(items.collect()).await;
        proxy.cut_after(u64::MAX);
        let count = until_connected(|| store.count(&below)).await;
        assert!([0, 3].contains(&count), "a part was saved");
        note(saved.is_ok(), count == 3);
        if let Err(error) = saved {
            assert_unavailable(&error, "A write may have taken place");
        }

        let end = until_connected(|| store.read("s", 0)).await.len() as u64;
        proxy.cut_after(bytes);
        let appended = store.append("s", end, vec![record(end), record(end)]).await;
        proxy.cut_after(u64::MAX);
        let entries = until_connected(|| store.read("s", 0)).await;
        let new_end = entries.len() as u64;
        assert!(entries.iter().map(|entry| entry.seq).eq(1..=new_end));
        assert!(new_end == end || new_end == end + 2, "a part was appended");
        note(appended.is_ok(), new_end > end);
        if let Err(error) = appended {
            assert_unavailable(&error, "A write may have taken place");
        }
    }
    assert!(
        written_at_once > 0 && written_in_doubt > 0 && not_written > 0,
        "{written_at_once} {written_in_doubt} {not_written}"
    );
}

#[tokio::test]
async fn a_silent_server_is_reported() {
    need_server!();
    let names = Names::default();
    let proxy = Proxy::start().await;
    let options = names.options_at(&url_at(proxy.address)).with_pool_size(1);
    let store = open(options.with_statement_timeout(Duration::from_millis(500))).await;
    store.save(MemoryItem::new("a", "")).await.unwrap();
    proxy.set_silent(true);
    assert_unavailable(
        &store.save(MemoryItem::new("b", "")).await.unwrap_err(),
        "does not answer",
    );
    proxy.set_silent(false);
    assert!(
        store.get("local", "a").await.unwrap().is_some(),
        "the connection is not replaced"
    );
}

#[tokio::test]
async fn dropping_writes_leaves_whole_ones() {
    need_server!();
    let names = Names::default();
    let store = open(names.options()).await;
    for polls in 0..40 {
        let items = (0..3)
            .map(|number| MemoryItem::new(format!("{polls:02}/{number}"), ""))
            .collect();
        let mut saving = Box::pin(store.save_many(items));
        for _ in 0..polls {
            if (&mut saving).now_or_never().is_some() {
                break;
            }
            tokio::task::yield_now().await;
        }
    }
    for polls in 0..40 {
        let below = MemoryFilter::new("local").with_prefix(format!("{polls:02}/"));
        assert!([0, 3].contains(&store.count(&below).await.unwrap()), "a part was saved");
    }
}

#[tokio::test]
async fn damaged_rows_are_reported_and_harm_no_others() {
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let store = open(options_of(&url(), &schema)).await;
    for id in ["a", "b"] {
        store.save(MemoryItem::new(id, "")).await.unwrap();
    }
    store.append("s", 0, vec![record(1)]).await.unwrap();
    let deep = "[".repeat(200) + &"]".repeat(200);
    admin(&format!(
        "UPDATE {schema}.memory_items SET metadata = '[1]' WHERE id = 'a';
         UPDATE {schema}.journal_records SET data = '{deep}'"
    ))
    .await;
    let error = store.get("local", "a").await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Serialization);
    assert_eq!(
        error.message(),
        "the metadata of the item `a` is damaged: its JSON cannot be read"
    );
    assert!(store.get("local", "b").await.unwrap().is_some());
    let error = store.read("s", 0).await.unwrap_err();
    assert_eq!(error.kind(), SessionErrorKind::Serialization);
    assert!(error.message().contains("record 1 of the stream `s`"), "{error:?}");
    admin(&format!(
        "ALTER TABLE {schema}.memory_items ALTER content DROP NOT NULL"
    ))
    .await;
    admin(&format!(
        "UPDATE {schema}.memory_items SET content = NULL WHERE id = 'b'"
    ))
    .await;
    let error = store.get("local", "b").await.unwrap_err();
    assert_eq!(error.kind(), MemoryErrorKind::Serialization, "{error:?}");
    admin(&format!("DROP TABLE {schema}.memory_items")).await;
    let error = store.get("local", "b").await.unwrap_err();
    assert!(error.message().contains("the tables are missing"), "{error:?}");
}

#[tokio::test]
async fn nul_characters_are_kept_and_never_reach_the_server() {
    need_server!();
    let names = Names::default();
    let store = open(names.options()).await;
    let item = MemoryItem::new("a", "\u{10}0\0")
        .with_source("\0")
        .with_metadata("\0", "\0");
    store.save(item).await.unwrap();
    let read = store.get("local", "a").await.unwrap().unwrap();
    assert_eq!(
        (read.content.as_str(), read.source.as_deref()),
        ("\u{10}0\0", Some("\0"))
    );
    let filter = MemoryFilter::new("local").with_metadata("\0", "\0");
    assert_eq!(store.count(&filter).await.unwrap(), 1);
    let other = MemoryFilter::new("local").with_metadata("\0", "\u{10}0");
    assert_eq!(store.count(&other).await.unwrap(), 0);
    let nul = "\0";
    assert_eq!(store.list(&MemoryFilter::new(nul)).await.unwrap(), []);
    for owner in [
        Actor::user(nul),
        Actor::new(nul, "u"),
        Actor::user("local").with_line(nul),
    ] {
        assert_eq!(store.count(&MemoryFilter::owned_by(owner.clone())).await.unwrap(), 0);
        if owner.line.is_none() {
            assert_eq!(store.erase(&owner).await.unwrap(), 0);
        }
    }
    assert_eq!(store.delete_prefix(nul, "a").await.unwrap(), 0);
    store.record_recall(nul, nul, 1.0).await.unwrap();
    store.trim(nul, 1).await.unwrap();
    assert!(!Journal::delete(&store, nul).await.unwrap());
}

#[tokio::test]
async fn fifty_megabytes_are_kept() {
    need_server!();
    let names = Names::default();
    let store = open(names.options()).await;
    let content = "0123456789abcdé".repeat(50_000_000 / 17) + "\u{0}";
    store.save(MemoryItem::new("large", content.as_str())).await.unwrap();
    assert!(store.get("local", "large").await.unwrap().unwrap().content == content);
}

#[tokio::test]
async fn two_processes_append_without_gaps() {
    const WRITERS: u64 = 64;
    const RECORDS: u64 = 2;
    need_server!();
    let names = Names::default();
    let schema = names.name();
    let stores = [
        open(options_of(&url(), &schema)).await,
        open(options_of(&url(), &schema)).await,
    ];
    let writers = (0..WRITERS).map(|writer| {
        let store = &stores[(writer % 2) as usize];
        async move {
            let (mut end, mut written) = (0, 0);
            while written < RECORDS {
                match store.append("s", end, vec![record(writer * 100 + written)]).await {
                    Ok(seq) => (end, written) = (seq, written + 1),
                    Err(error) => match error.kind() {
                        SessionErrorKind::Conflict { found, .. } => end = found,
                        _ => panic!("{error:?}"),
                    },
                }
            }
        }
    });
    join_all(writers).await;
    let entries = stores[0].read("s", 0).await.unwrap();
    assert!(entries.iter().map(|entry| entry.seq).eq(1..=WRITERS * RECORDS));
    for writer in 0..WRITERS {
        let data = entries.iter().filter_map(|entry| entry.record.data.as_u64());
        assert!(
            data.filter(|data| data / 100 == writer)
                .eq((0..RECORDS).map(|n| writer * 100 + n))
        );
    }
}
