//! A delivery that is repeated: at the same time, after a restart, and at another process.

use std::{sync::Arc, time::Duration};

use agcore_chat::{Actor, SystemClock};
use agcore_server::Sharing;
use agcore_store::sqlite::SqliteStore;
use futures_util::future::join_all;
use serde_json::json;

use super::{count, ended, github, ids, push};
use crate::support::{Running, Store, builder, store, texts};

#[tokio::test]
async fn a_hundred_repeats_at_once_start_one_run() {
    let (store, provider) = (store(), texts(["Done."]));
    let server = Running::start(builder(&provider, &store).with_hook(github("issues"))).await;
    let body = json!({"action": "opened"});
    let answers = join_all((0..100).map(|_| push(&server, "issues", "1", &body))).await;
    let started = answers.iter().filter(|answer| answer.status.as_u16() == 202).count();
    assert_eq!(started, 1);
    for answer in &answers {
        assert!([200, 202].contains(&answer.status.as_u16()), "{}", answer.text);
        assert_eq!(ids(answer), ids(&answers[0]));
    }
    ended(&server, &answers[0]).await;
    assert_eq!((count(&store, Actor::local()).await, provider.requests().len()), (1, 1));
    server.stop().await;
}

#[tokio::test]
async fn of_bodies_that_arrive_at_once_the_first_one_counts() {
    let (store, provider) = (store(), texts(["Done."]));
    let server = Running::start(builder(&provider, &store).with_hook(github("issues"))).await;
    let bodies: Vec<_> = (0..20).map(|number| json!({"number": number})).collect();
    let answers = join_all(bodies.iter().map(|body| push(&server, "issues", "1", body))).await;
    let noted = answers
        .iter()
        .filter(|answer| answer.json()["note"].is_string())
        .count();
    assert_eq!((noted, count(&store, Actor::local()).await), (19, 1));
    server.kill().await;
}

#[tokio::test]
async fn a_restart_between_repeats_changes_nothing() {
    let (store, provider) = (store(), texts(["Done."]));
    let hook = || github("issues").with_prompt("Go: {{body.action}}").unwrap();
    let body = json!({"action": "opened"});
    let server = Running::start(builder(&provider, &store).with_hook(hook())).await;
    let first = push(&server, "issues", "1", &body).await;
    ended(&server, &first).await;
    server.stop().await;
    // Also if the template is another one now.
    let server = builder(&provider, &store).with_hook(github("issues").with_prompt("{{body.missing}}").unwrap());
    let server = Running::start(server).await;
    let again = push(&server, "issues", "1", &body).await;
    assert_eq!(
        (again.status.as_u16(), ids(&again)),
        (200, ids(&first)),
        "{}",
        again.text
    );
    assert_eq!(again.json().get("note"), None);
    assert_eq!((count(&store, Actor::local()).await, provider.requests().len()), (1, 1));
    server.stop().await;
}

#[tokio::test]
async fn a_file_of_sqlite_knows_what_was_delivered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    let provider = texts(["Done."]);
    let mut answers = Vec::new();
    for _ in 0..2 {
        let database = SqliteStore::open(&path, Arc::new(SystemClock::new())).await.unwrap();
        let store: Store = Arc::new(database.clone());
        let server = Running::start(builder(&provider, &store).with_hook(github("issues"))).await;
        let body = json!({});
        let repeats = join_all((0..20).map(|_| push(&server, "issues", "1", &body))).await;
        ended(&server, &repeats[0]).await;
        answers.extend(repeats);
        assert_eq!(count(&store, Actor::local()).await, 1);
        server.stop().await;
        database.close().await;
    }
    let started = answers.iter().filter(|answer| answer.status.as_u16() == 202).count();
    assert_eq!((started, provider.requests().len()), (1, 1));
}

#[tokio::test]
async fn two_processes_start_each_delivery_once() {
    let (store, provider) = (store(), texts(["1", "2", "3", "4", "5"]));
    let sharing = || Sharing::new("test").with_poll(Duration::from_millis(20));
    let shared = || {
        builder(&provider, &store)
            .with_sharing(sharing())
            .with_hook(github("issues"))
    };
    let (one, other) = (Running::start(shared()).await, Running::start(shared()).await);
    for number in 0..5 {
        let id = number.to_string();
        let body = json!({"number": number});
        let servers = [&one, &other, &one, &other, &one, &other];
        let answers = join_all(servers.map(|server| push(server, "issues", &id, &body))).await;
        let started = answers.iter().filter(|answer| answer.status.as_u16() == 202).count();
        assert_eq!(started, 1, "{answers:?}");
        assert!(
            answers.iter().all(|answer| ids(answer) == ids(&answers[0])),
            "{answers:?}"
        );
        ended(&other, &answers[0]).await;
    }
    assert_eq!(count(&store, Actor::local()).await, 5);
    provider.assert_done();
    one.stop().await;
    other.stop().await;
}
