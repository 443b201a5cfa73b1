//! Clients that come back: nothing lost, nothing twice.

use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};

use crate::support::{Running, builder, call, input, store, text_of};

#[tokio::test]
async fn a_client_continues_after_every_event() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say"), call("c2", "say")]),
        ScriptStep::text("All said."),
    ]);
    let store = store();
    let server = Running::start(builder(&provider, &store)).await;
    server.run(&input("t", "r1", "Say it twice.")).await;
    let all = server.follow("t", "r1", None).await;
    assert!(all.len() > 10, "{all:?}");
    for at in 0..all.len() {
        let rest = server.follow("t", "r1", all[at].id).await;
        assert_eq!(rest, all[at + 1..]);
    }
    server.stop().await;
    // Also from a server that has not executed the run.
    let server = Running::start(builder(&provider, &store)).await;
    for at in 0..all.len() {
        assert_eq!(server.follow("t", "r1", all[at].id).await, all[at + 1..]);
    }
    server.stop().await;
}

#[tokio::test]
async fn a_client_that_is_cut_off_during_the_run_sees_each_event_once() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("One two three four five six seven eight."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Count.")).await;
    assert_eq!(started.status.as_u16(), 202);
    let mut seen = Vec::new();
    loop {
        let last = seen.last().and_then(|event: &crate::support::Event| event.id);
        let mut events = server.follow_open("t", "r1", last).await;
        // One event, then the connection is gone.
        match events.next().await {
            Some(event) => seen.push(event),
            None => break,
        }
    }
    assert_eq!(seen, server.follow("t", "r1", None).await);
    assert_eq!(
        text_of(seen.iter().map(|event| &event.data)),
        "One two three four five six seven eight."
    );
    server.stop().await;
}

#[tokio::test]
async fn ids_of_other_runs_and_of_the_future_are_refused() {
    let provider = crate::support::texts(["One.", "Two."]);
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&input("t", "r1", "1")).await;
    server.run(&input("t", "r2", "2")).await;
    let first = server
        .follow("t", "r1", None)
        .await
        .last()
        .unwrap()
        .id
        .unwrap()
        .to_string();
    let path = "/api/v1/agent/runs/t/events?runId=r2";
    for id in [
        first.as_str(),
        "999999",
        "-1",
        "x",
        "18446744073709551615",
        "99999999999999999999999",
    ] {
        let answer = server
            .with(http::Method::GET, path, &[("last-event-id", id)], None)
            .await;
        answer.assert_problem(400, "invalid_event_id");
    }
    server
        .get("/api/v1/agent/runs/t/events")
        .await
        .assert_problem(400, "invalid_request");
    server
        .get("/api/v1/agent/runs/t/events?runId=r9")
        .await
        .assert_problem(404, "not_found");
    server
        .get("/api/v1/agent/runs/u/events?runId=r1")
        .await
        .assert_problem(404, "not_found");
    server.stop().await;
}
