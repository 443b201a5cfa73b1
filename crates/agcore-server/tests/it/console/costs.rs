//! The statements that lists need, and costs.

use std::sync::Arc;

use agcore_chat::{Actor, SystemClock};
use agcore_session::{
    Billing, Commit, InMemorySessionStore, MessageRole, Money, NewMessage, NewSession, RunChange, RunStatus,
};
use agcore_testkit::stores::faulty::{FaultPlan, FaultyStore};
use serde_json::json;

use super::browser::Browser;
use crate::support::{Running, Store, builder, store, texts};

/// Creates a thread with a run that has a cost.
async fn seed(store: &Store, number: i64, status: RunStatus) {
    let id = format!("t{number}");
    let session = NewSession::new(&*id)
        .with_owner(Actor::local())
        .with_billing(Billing::new("EUR"))
        .with_title("A thread")
        .with_metadata("agent", "ada");
    store.create(session).await.unwrap();
    let priced = NewMessage::new("m1", MessageRole::Assistant, "x".repeat(1000))
        .with_run("r")
        .with_cost(Money::from_micros(number, "EUR"));
    let free = NewMessage::new("m2", MessageRole::Assistant, "x")
        .with_run("r")
        .with_usage(agcore_chat::Usage::new(10, 2));
    let begin = RunChange::new("r", RunStatus::Running).with_input(json!({"agent": "ada", "large": "x".repeat(1000)}));
    let commit = Commit::new().with_run(begin).with_message(priced).with_message(free);
    store.commit("local", &id, 0, commit).await.unwrap();
    let end = store.get_session("local", &id).await.unwrap().unwrap().end;
    let done = Commit::new().with_run(RunChange::new("r", status));
    store.commit("local", &id, end, done).await.unwrap();
}

#[tokio::test]
async fn a_list_of_runs_needs_few_statements_however_long_it_is() {
    let counted = Arc::new(FaultyStore::new(
        InMemorySessionStore::new(Arc::new(SystemClock::new())),
        FaultPlan::new(),
    ));
    let store: Store = Arc::clone(&counted) as _;
    let server = Running::start(builder(&texts([]), &store).with_console()).await;
    let browser = Browser::new(&server);
    let mut seeded = 0;
    for count in [2, 60] {
        while seeded < count {
            seeded += 1;
            let status = match seeded % 2 {
                0 => RunStatus::Failed,
                _ => RunStatus::Completed,
            };
            seed(&store, seeded, status).await;
        }
        let before = counted.recorded_calls().len();
        let page = browser.get("/console/runs").await.text;
        assert!(page.contains(&format!("0.{count:06} EUR")), "{page}");
        let rows = usize::try_from(count.min(50)).unwrap();
        assert!(page.matches("A thread").count() >= rows, "{page}");
        assert_eq!(
            reads(&counted, before),
            ["bills", "count_approvals", "last_events", "run_list"]
        );
    }
    let before = counted.recorded_calls().len();
    browser.get("/console/inbox").await;
    assert_eq!(reads(&counted, before), ["approvals", "count_approvals"]);
    server.stop().await;
}

/// Returns the reading calls since a number of them, in alphabetical order. The server itself has others from time to time.
fn reads(store: &FaultyStore<InMemorySessionStore>, before: usize) -> Vec<&'static str> {
    const OWN: [&str; 9] = [
        "approvals",
        "bills",
        "count_approvals",
        "events",
        "get_session",
        "last_events",
        "messages",
        "run_list",
        "sessions",
    ];
    let calls = &store.recorded_calls()[before..];
    let mut reads: Vec<_> = calls
        .iter()
        .map(|call| call.method)
        .filter(|method| OWN.contains(method))
        .collect();
    reads.sort_unstable();
    reads
}

#[tokio::test]
async fn costs_are_added_up_by_day_model_and_agent() {
    let store = store();
    for number in 1..=3 {
        seed(&store, number, RunStatus::Completed).await;
    }
    let server = Running::start(builder(&texts([]), &store).with_console()).await;
    let report = server.get("/api/v1/agent/costs").await.json();
    assert_eq!(report["total"]["costs"], json!({"EUR": "0.000006"}));
    assert_eq!(
        (&report["total"]["modelCalls"], &report["total"]["unpricedCalls"]),
        (&json!(6), &json!(3))
    );
    assert_eq!(
        (report["total"]["inputTokens"].clone(), report["isCut"].clone()),
        (json!(30), json!(false))
    );
    assert_eq!(report["days"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["days"][0]["usage"], report["total"]);
    assert_eq!(report["agents"][0]["agent"], "ada");
    assert_eq!(report["models"][0]["model"], "");
    let last = report["until"].as_str().unwrap();
    assert_eq!(report["days"][0]["day"], last);

    let browser = Browser::new(&server);
    let page = browser.get("/console/cost").await.text;
    for part in [
        "0.000006",
        "EUR",
        "Calls without a known cost",
        "ada",
        "not recorded",
        last,
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
    let early = browser.get("/console/cost?since=2020-01-01&until=2020-01-31").await;
    assert!(early.text.contains("No model calls in this time"), "{}", early.text);
    let wrong = browser.get("/console/cost?since=2020-13-01&until=%3Cb%3E").await;
    assert_eq!(wrong.status, 400);
    assert!(
        wrong.text.contains("must be a day") && wrong.text.contains("value=\"&lt;b&gt;\""),
        "{}",
        wrong.text
    );
    for query in [
        "since=x",
        "until=2020-02-30",
        "since=2026-01-02&until=2026-01-01",
        "since=2000-01-01",
    ] {
        let answer = server.get(&format!("/api/v1/agent/costs?{query}")).await;
        answer.assert_problem(400, "invalid_request");
    }
    // The bill of a thread that was erased is left.
    store.erase_session("local", "t1").await.unwrap();
    let report = server.get("/api/v1/agent/costs").await.json();
    assert_eq!(report["total"]["costs"], json!({"EUR": "0.000006"}));
    server.stop().await;
}
