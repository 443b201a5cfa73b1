//! The processes that execute runs.

use std::time::Duration;

use agcore_server::{Limits, Role, ServerBuilder, Sharing};
use agcore_session::RunAdministration as _;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;
use serde_json::{Value, json};

use super::{Admin, with_administrators};
use crate::support::{Running, Store, builder, input, store, text_of, texts};

const PATH: &str = "/api/v1/admin/workers";

/// The name of the process is in its list.
fn sharing(name: &str, role: Role) -> Sharing {
    Sharing::new(name)
        .with_role(role)
        .with_poll(Duration::from_millis(5))
        .with_lease(Duration::from_secs(5))
        .with_slots(3)
}

fn api(store: &Store) -> ServerBuilder {
    with_administrators(builder(&ScriptedProvider::new([]), store).with_sharing(sharing("api", Role::Api)))
}

/// Starts a worker whose runs have no time to end when it drains.
async fn worker(name: &str, provider: &ScriptedProvider, store: &Store) -> Running {
    let limits = Limits::new().with_drain(Duration::from_millis(1));
    Running::start_worker(
        builder(provider, store)
            .with_sharing(sharing(name, Role::Worker))
            .with_limits(limits),
    )
    .await
}

/// Waits until the only worker with a name is in a state, and returns it.
async fn in_state(ops: &Admin<'_>, name: &str, state: &str) -> Value {
    loop {
        let found = ops.get(PATH).await.json();
        let mut workers = found["workers"].as_array().unwrap().iter();
        if let Some(found) = workers.find(|worker| worker["name"] == name && worker["state"] == state) {
            return found.clone();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_worker_that_drains_leaves_its_runs_to_others_until_that_is_taken_back() {
    let store = store();
    let server = Running::start(api(&store)).await;
    let ops = Admin::of_all(&server);
    let slow = ScriptedProvider::new([ScriptStep::text("Half").then_hang(), ScriptStep::text("Again.")]);
    let one = worker("one", &slow, &store).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    let mut early = server.follow_open("t", "r1", None).await;
    early.until("TEXT_MESSAGE_CONTENT").await;
    let listed = in_state(&ops, "one", "active").await;
    assert_eq!(
        (&listed["slots"], listed["tenants"].as_array()),
        (&json!(3), None),
        "{listed}"
    );
    assert_eq!(listed["version"], env!("CARGO_PKG_VERSION"));
    let document = server.get("/openapi.json").await.json();
    let required = document["components"]["schemas"]["WorkerView"]["required"]
        .as_array()
        .unwrap();
    for name in required {
        assert!(!listed[name.as_str().unwrap()].is_null(), "{name} is missing: {listed}");
    }
    let id = listed["workerId"].as_str().unwrap();
    let shown = ops.get(&format!("{PATH}/{id}")).await.json();
    let lease = &shown["leases"][0];
    assert_eq!(
        (&lease["tenant"], &lease["threadId"], &lease["runId"], &lease["status"]),
        (&json!("local"), &json!("t"), &json!("r1"), &json!("running")),
        "{shown}"
    );
    assert!(
        lease["holder"].as_str().unwrap().starts_with(id) && lease["until"].is_string(),
        "{shown}"
    );

    // Asking again changes nothing.
    for _ in 0..2 {
        let asked = ops
            .change(Method::POST, &format!("{PATH}/{id}/drain"), None)
            .await
            .json();
        assert!(
            asked["drainRequestedAt"].is_string() && asked["state"] != "active",
            "{asked}"
        );
    }
    in_state(&ops, "one", "drained").await;
    // The run waits for another worker, which continues it.
    let two = worker("two", &texts(["Whole."]), &store).await;
    let rest: Vec<Value> = early.rest().await.into_iter().map(|event| event.data).collect();
    assert!(text_of(&rest).ends_with("Whole."), "{rest:?}");
    let other = in_state(&ops, "two", "active").await;
    assert_ne!(other["workerId"], id);
    two.stop().await;

    // It claims nothing until that is taken back.
    server.post("/api/v1/agent/runs/u", &input("u", "r1", "Hello")).await;
    in_state(&ops, "one", "drained").await;
    let waiting = ops.get("/api/v1/admin/tenants/local").await.json();
    assert_eq!(
        (&waiting["waitingRuns"], &waiting["runningRuns"]),
        (&json!(1), &json!(0)),
        "{waiting}"
    );
    ops.change(Method::DELETE, &format!("{PATH}/{id}/drain"), None).await;
    let events: Vec<Value> = server
        .follow("u", "r1", None)
        .await
        .into_iter()
        .map(|event| event.data)
        .collect();
    assert_eq!(text_of(&events), "Again.");
    in_state(&ops, "one", "active").await;
    slow.assert_done();
    one.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn a_worker_that_is_gone_cannot_be_drained() {
    let store = store();
    let server = Running::start(api(&store)).await;
    let ops = Admin::of_all(&server);
    let one = worker("one", &texts([]), &store).await;
    let id = in_state(&ops, "one", "active").await["workerId"]
        .as_str()
        .unwrap()
        .to_owned();
    one.stop().await;
    for id in [id.as_str(), "unknown", "%00", "x".repeat(3000).as_str()] {
        let path = format!("{PATH}/{id}");
        ops.get(&path).await.assert_problem(404, "not_found");
        for method in [Method::POST, Method::DELETE] {
            ops.ask(method, &format!("{path}/drain"), None)
                .await
                .assert_problem(404, "not_found");
        }
    }
    assert_eq!(
        ops.get(PATH).await.json()["workers"],
        json!([]),
        "an API process executes no runs"
    );
    assert_eq!(store.workers(10).await.unwrap(), []);
    server.stop().await;
}

#[tokio::test]
async fn a_server_that_has_its_store_alone_drains_at_once() {
    let store = store();
    let provider = texts(["After."]);
    let server = Running::start(with_administrators(builder(&provider, &store))).await;
    let ops = Admin::of_all(&server);
    let found = loop {
        let found = ops.get(PATH).await.json();
        if let Some(found) = found["workers"].get(0) {
            break found.clone();
        }
        tokio::task::yield_now().await;
    };
    let path = format!("{PATH}/{}/drain", found["workerId"].as_str().unwrap());
    ops.change(Method::POST, &path, None).await;
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    assert_eq!(started.status.as_u16(), 202, "requests are still accepted");
    let waiting = ops.get("/api/v1/admin/tenants/local").await.json();
    assert_eq!(
        (&waiting["waitingRuns"], &waiting["runningRuns"]),
        (&json!(1), &json!(0)),
        "{waiting}"
    );
    ops.change(Method::DELETE, &path, None).await;
    let events: Vec<Value> = server
        .follow("t", "r1", None)
        .await
        .into_iter()
        .map(|event| event.data)
        .collect();
    assert_eq!(text_of(&events), "After.");
    server.stop().await;
}
