//! Runs that have ended their workers.

use std::time::Duration;

use agcore_server::{Role, ServerBuilder, Sharing};
use agcore_session::{ClaimRequest, RunFilter, RunStatus};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::{Admin, TENANTS, with_administrators};
use crate::support::{Running, Store, builder, call, input, store, text_of, texts};

const PATH: &str = "/api/v1/admin/tenants/local/dead-letters";

fn sharing(role: Role) -> Sharing {
    Sharing::new("test")
        .with_role(role)
        .with_poll(Duration::from_millis(20))
        .with_lease(Duration::from_secs(5))
}

pub(crate) fn api(store: &Store) -> ServerBuilder {
    with_administrators(builder(&ScriptedProvider::new([]), store).with_sharing(sharing(Role::Api)))
}

/// A worker in a task.
pub(super) struct Working {
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Working {
    pub(super) fn start(provider: &ScriptedProvider, store: &Store) -> Self {
        let server = builder(provider, store)
            .with_sharing(sharing(Role::Worker))
            .build()
            .unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let task = tokio::spawn(async move { server.work(stopped).await.unwrap() });
        Self { stop, task }
    }

    pub(super) async fn stop(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }

    /// Ends the worker as if its process was killed.
    async fn kill(self) {
        self.task.abort();
        drop(self.task.await);
    }
}

/// Makes dead letters of all runs that wait, or whose worker is gone.
pub(crate) async fn bury(store: &Store, count: usize) {
    store.take_over(false).await.unwrap();
    let (mut dead, mut number) = (0, 0);
    while dead < count {
        number += 1;
        let request = ClaimRequest::new(format!("lost-{number}"), "gone")
            .with_length(Duration::from_millis(1))
            .with_limit(100)
            .with_max_attempts(1);
        dead += store.claim(&request).await.unwrap().dead.len();
        tokio::task::yield_now().await;
    }
}

fn runs(page: &Value) -> Vec<&str> {
    let letters = page["deadLetters"].as_array().unwrap().iter();
    letters.map(|letter| letter["runId"].as_str().unwrap()).collect()
}

async fn status(store: &Store, thread: &str, run: &str) -> RunStatus {
    let found = store
        .runs("local", thread, &RunFilter::new().with_id(run))
        .await
        .unwrap();
    found[0].status
}

/// Starts a run whose worker is killed while it writes its answer, and makes it a dead letter.
async fn lose(server: &Running, store: &Store) {
    let steps = [
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("Half").then_hang(),
    ];
    let first = Working::start(&ScriptedProvider::new(steps), store);
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
    let mut early = server.follow_open("t", "r1", None).await;
    early.until("TEXT_MESSAGE_CONTENT").await;
    first.kill().await;
    bury(store, 1).await;
    let rest = early.rest().await;
    assert_eq!(rest.last().unwrap().data["type"], "RUN_ERROR");
}

#[tokio::test]
async fn dead_letters_are_listed() {
    let store = store();
    let server = Running::start(api(&store)).await;
    let ops = Admin::of_all(&server);
    lose(&server, &store).await;
    for thread in ["u", "v"] {
        server
            .post(&format!("/api/v1/agent/runs/{thread}"), &input(thread, "r2", "Hello"))
            .await;
    }
    bury(&store, 2).await;

    let page = ops.get(&format!("{PATH}?limit=2")).await.json();
    assert_eq!(runs(&page), ["r1", "r2"]);
    let rest = ops
        .get(&format!("{PATH}?cursor={}", page["cursor"].as_str().unwrap()))
        .await
        .json();
    assert_eq!((runs(&rest).len(), &rest["cursor"]), (1, &Value::Null));
    for wrong in ["?cursor=zz", "?cursor=31302e74", "?limit=0", "?limit=201", "?limit=x"] {
        ops.get(&format!("{PATH}{wrong}"))
            .await
            .assert_problem(400, "invalid_request");
    }
    let counted = ops.get(&format!("{TENANTS}/local")).await.json();
    assert_eq!(
        (&counted["deadLetters"], &counted["waitingRuns"]),
        (&json!(3), &json!(0))
    );
    let shown = ops.get(&format!("{PATH}/t/r1")).await.json();
    assert_eq!(
        (&shown["threadId"], &shown["userId"], shown["attempts"].is_u64()),
        (&json!("t"), &json!("local"), true),
        "{shown}"
    );
    assert!(
        shown["reason"]
            .as_str()
            .unwrap()
            .contains("workers have started the run"),
        "{shown}"
    );
    assert!(!shown.to_string().contains("Say it."), "what users write is theirs");
    server.stop().await;
}

#[tokio::test]
async fn a_dead_letter_starts_again_where_it_was() {
    let store = store();
    let server = Running::start(api(&store)).await;
    let ops = Admin::of_all(&server);
    lose(&server, &store).await;
    // Two administrators at once.
    let restart = format!("{PATH}/t/r1/restart");
    let [one, two] = [
        ops.ask(Method::POST, &restart, None),
        ops.ask(Method::POST, &restart, None),
    ];
    let (one, two) = tokio::join!(one, two);
    let (done, late) = if one.status.is_success() {
        (one, two)
    } else {
        (two, one)
    };
    assert_eq!(
        (done.status.as_u16(), &done.json()["status"]),
        (202, &json!("queued")),
        "{}",
        done.text
    );
    late.assert_problem(409, "not_dead_letter");
    let second = Working::start(&texts(["Whole."]), &store);
    let events: Vec<Value> = server
        .follow("t", "r1", None)
        .await
        .into_iter()
        .map(|event| event.data)
        .collect();
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED", "{events:?}");
    // The call that has a result is not repeated.
    assert_eq!(
        events.iter().filter(|event| event["type"] == "TOOL_CALL_START").count(),
        1
    );
    assert!(text_of(&events).ends_with("Whole."), "{events:?}");
    assert_eq!(status(&store, "t", "r1").await, RunStatus::Completed);
    // A reader who has all events before the restart gets the rest, and one of a run that is over gets all of them.
    let again: Vec<Value> = server
        .follow("t", "r1", None)
        .await
        .into_iter()
        .map(|event| event.data)
        .collect();
    assert_eq!(again, events);
    ops.ask(Method::POST, &restart, None)
        .await
        .assert_problem(409, "not_dead_letter");
    second.stop().await;
    server.stop().await;
}

#[tokio::test]
async fn a_dead_letter_is_discarded_once() {
    let store = store();
    let server = Running::start(api(&store)).await;
    let ops = Admin::of_all(&server);
    server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    bury(&store, 1).await;
    let path = format!("{PATH}/t/r1");
    ops.change(Method::DELETE, &path, None).await;
    ops.ask(Method::DELETE, &path, None)
        .await
        .assert_problem(409, "not_dead_letter");
    ops.ask(Method::POST, &format!("{path}/restart"), None)
        .await
        .assert_problem(409, "not_dead_letter");
    ops.get(&path).await.assert_problem(404, "not_found");
    assert_eq!(runs(&ops.get(PATH).await.json()), [""; 0]);
    assert_eq!(status(&store, "t", "r1").await, RunStatus::Failed);
    // Those who follow the run know why it has failed, although no worker was there.
    let end = server.follow("t", "r1", None).await;
    let end = &end.last().unwrap().data;
    assert!(end["message"].as_str().unwrap().contains("workers"), "{end}");
    server.stop().await;
}

#[tokio::test]
async fn only_dead_letters_whose_thread_has_not_continued_start_again() {
    let store = store();
    let server = Running::start(api(&store)).await;
    let ops = Admin::of_all(&server);
    server.post("/api/v1/agent/runs/t", &input("t", "alive", "Hello")).await;
    for run in ["alive", "unknown"] {
        let status = if run == "alive" {
            (409, "not_dead_letter")
        } else {
            (404, "not_found")
        };
        for (method, path) in [
            (Method::POST, format!("{PATH}/t/{run}/restart")),
            (Method::DELETE, format!("{PATH}/t/{run}")),
        ] {
            let refused = ops.ask(method, &path, None).await;
            refused.assert_problem(status.0, status.1);
        }
    }
    for path in ["/x/alive", "/t/%00", "/%2F/alive"] {
        ops.get(&format!("{PATH}{path}")).await.assert_problem(404, "not_found");
        ops.ask(Method::POST, &format!("{PATH}{path}/restart"), None)
            .await
            .assert_problem(404, "not_found");
    }
    let other = format!("{TENANTS}/other/dead-letters/t/alive/restart");
    ops.ask(Method::POST, &other, None)
        .await
        .assert_problem(404, "not_found");
    bury(&store, 1).await;
    let worker = Working::start(&texts(["Later."]), &store);
    server.follow("t", "alive", None).await;
    server.run(&input("t", "later", "And now?")).await;
    worker.stop().await;
    let refused = ops.ask(Method::POST, &format!("{PATH}/t/alive/restart"), None).await;
    refused.assert_problem(409, "session_busy");
    assert!(
        refused.json()["detail"].as_str().unwrap().contains("continued"),
        "{}",
        refused.text
    );
    ops.change(Method::DELETE, &format!("{PATH}/t/alive"), None).await;
    server.stop().await;
}
