//! Workers of two versions: a newer one has changed the tables of the database.

use std::{sync::Arc, time::Duration};

use agcore_agent::AgentSpec;
use agcore_server::{Role, Server, Sharing};
use agcore_session::RunAdministration as _;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{NoArguments, typed};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use tokio::sync::Notify;

use crate::{
    postgres,
    support::{Running, Store, agent, builder, call, input, text_of, texts},
};

fn sharing(role: Role) -> Sharing {
    Sharing::new("old").with_role(role).with_poll(Duration::from_millis(5))
}

/// Changes the tables as the next version of the program could.
async fn upgrade(url: &str, schema: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let sql = format!(
        "ALTER TABLE {schema}.runs ADD COLUMN label text NOT NULL DEFAULT 'none';
         INSERT INTO {schema}.agcore_versions (version) SELECT max(version) + 1 FROM {schema}.agcore_versions"
    );
    let upgraded = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await;
    upgraded.unwrap();
}

fn answer(events: Vec<crate::support::Event>) -> String {
    let data: Vec<Value> = events.into_iter().map(|event| event.data).collect();
    text_of(&data)
}

#[tokio::test]
async fn a_worker_that_is_older_than_the_database_ends_its_runs_and_claims_no_more() {
    let Some(url) = postgres::url() else {
        return println!("skipped: no database server");
    };
    let (store, schema) = postgres::open_named(&url);
    let store: Store = store;
    let server = Running::start(builder(&ScriptedProvider::new([]), &store).with_sharing(sharing(Role::Api))).await;
    let model = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "wait")]),
        ScriptStep::text("Whole."),
        ScriptStep::text("Never."),
    ]);
    let (started, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (is_started, is_released) = (Arc::clone(&started), Arc::clone(&release));
    let wait = typed("wait", "Waits.", move |_: NoArguments| {
        let (started, release) = (Arc::clone(&is_started), Arc::clone(&is_released));
        async move {
            started.notify_one();
            release.notified().await;
            Ok("waited")
        }
    });
    let bundle = agent(&model).with_tool(wait).build().unwrap();
    let worker = Server::builder()
        .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
        .with_store(Arc::clone(&store))
        .with_sharing(sharing(Role::Worker));
    let worker = Running::start_worker(worker).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    let early = server.follow_open("t", "r1", None).await;
    started.notified().await;
    assert!(!store.is_outdated().await.unwrap());

    upgrade(&url, &schema).await;
    while worker.get("/ready").await.json()["claims"] != false {
        tokio::task::yield_now().await;
    }
    server.post("/api/v1/agent/runs/u", &input("u", "r1", "Hello")).await;
    release.notify_one();
    assert!(answer(early.rest().await).ends_with("Whole."));
    // Its next report says so.
    while !store.workers(10).await.unwrap().iter().all(|worker| worker.is_draining) {
        tokio::task::yield_now().await;
    }
    assert_eq!(model.unused(), 1);
    worker.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_works_alone_continues_after_an_upgrade() {
    let Some(url) = postgres::url() else {
        return println!("skipped: no database server");
    };
    let (store, schema) = postgres::open_named(&url);
    let store: Store = store;
    upgrade(&url, &schema).await;
    assert!(store.is_outdated().await.unwrap());
    let bundle = agent(&texts(["Hello."])).build().unwrap();
    let server = Server::builder()
        .with_agent("ada", bundle, AgentSpec::new("ada", "Be Ada."))
        .with_store(store);
    let server = Running::start(server).await;
    let events = server.run(&input("t", "r1", "Hello")).await;
    assert_eq!(text_of(&events), "Hello.");
    server.stop().await;
}
