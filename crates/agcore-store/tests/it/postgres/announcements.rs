//! Announcements of runs between processes.

use std::{sync::Arc, time::Duration};

use agcore_chat::SystemClock;
use agcore_session::RunLeases;
use agcore_store::postgres::PostgresStore;
use sqlx::{Connection, PgConnection};
use tokio::{task::JoinHandle, time::timeout};

use super::server::{Names, admin, need_server, url};

/// The longest time for what happens within moments. Only a bug exceeds it.
const LIMIT: Duration = Duration::from_secs(60);

async fn open(names: &Names) -> [PostgresStore; 2] {
    let options = names.options();
    let clock = Arc::new(SystemClock::new());
    let first = options.clone().open(Arc::clone(&clock) as _).await.unwrap();
    [first, options.open(clock).await.unwrap()]
}

/// Returns the last statements of the connections that listen, of those with this name.
async fn statements_of(name: &str) -> Vec<String> {
    let mut connection = PgConnection::connect(&url()).await.unwrap();
    let sql = "SELECT query FROM pg_stat_activity WHERE application_name = $1 AND query LIKE 'LISTEN %'";
    sqlx::query_scalar(sql)
        .bind(name)
        .fetch_all(&mut connection)
        .await
        .unwrap()
}

/// Waits for the next announcement in a task.
fn wait(store: &PostgresStore) -> JoinHandle<bool> {
    let store = store.clone();
    tokio::spawn(async move { store.announced().await.is_ok() })
}

/// Returns whether the task has heard an announcement.
async fn heard(waiting: JoinHandle<bool>) -> bool {
    timeout(LIMIT, waiting).await.expect("the wait ends").unwrap()
}

#[tokio::test]
async fn an_announcement_is_heard_by_all_that_listen() {
    need_server!();
    let names = Names::default();
    let [one, other] = open(&names).await;
    // A new connection may have missed some.
    assert!(heard(wait(&one)).await && heard(wait(&other)).await);
    let waiting = [wait(&one), wait(&other)];
    one.announce().await.unwrap();
    for waiting in waiting {
        assert!(heard(waiting).await);
    }
    // Those that come while no call waits are kept.
    other.announce().await.unwrap();
    assert!(heard(wait(&one)).await);
}

#[tokio::test]
async fn each_schema_has_a_channel_of_its_own() {
    need_server!();
    let names = [Names::default(), Names::default()];
    let mut listening = Vec::new();
    for names in &names {
        let [one, _] = open(names).await;
        assert!(heard(wait(&one)).await);
        listening.push((one, statements_of(&names.only()).await));
    }
    let [(_, first), (_, second)] = &*listening else {
        panic!("two stores listen")
    };
    assert_eq!((first.len(), second.len()), (1, 1), "{first:?} {second:?}");
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_wait_that_was_dropped_misses_nothing() {
    need_server!();
    let names = Names::default();
    let [one, other] = open(&names).await;
    assert!(heard(wait(&one)).await);
    let waiting = wait(&one);
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    other.announce().await.unwrap();
    assert!(heard(wait(&one)).await);
}

#[tokio::test]
async fn a_lost_connection_is_opened_again() {
    need_server!();
    let names = Names::default();
    let [one, other] = open(&names).await;
    assert!(heard(wait(&one)).await);
    let waiting = wait(&one);
    let name = names.only();
    assert_eq!(statements_of(&name).await.len(), 1);
    admin(&format!(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND application_name = '{name}'"
    ))
    .await;
    // Whether the loss is an error or an announcement that may have been missed: the wait ends, and the next one works.
    heard(waiting).await;
    assert!(heard(wait(&one)).await);
    let waiting = wait(&one);
    other.announce().await.unwrap();
    assert!(heard(waiting).await);
}

#[tokio::test]
async fn closing_the_store_ends_the_wait() {
    need_server!();
    let names = Names::default();
    let [one, _] = open(&names).await;
    assert!(heard(wait(&one)).await);
    let waiting = wait(&one);
    tokio::task::yield_now().await;
    timeout(LIMIT, one.close()).await.expect("nothing keeps the store open");
    assert!(!heard(waiting).await);
}
