//! Questions that are answered by later requests.

mod same_id;

use agcore_server::BusyPolicy;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};

use crate::support::{Running, builder, call, input, store, text_of, types};

fn paying() -> ScriptedProvider {
    ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Done.")])
}

async fn interrupted(server: &Running) -> String {
    let events = server.run(&input("t", "r1", "Pay.")).await;
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["outcome"]["type"]),
        (&json!("RUN_FINISHED"), &json!("interrupt")),
        "{end}"
    );
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    end["outcome"]["interrupts"][0]["id"].as_str().unwrap().to_owned()
}

fn resume(run: &str, interrupt: &str, payload: &Value) -> Value {
    let mut resume = input("t", run, "ignored");
    resume["messages"] = json!([]);
    resume["resume"] = json!([{"interruptId": interrupt, "status": "resolved", "payload": payload}]);
    resume
}

#[tokio::test]
async fn the_next_run_continues_with_the_answer() {
    let store = store();
    let server = Running::start(builder(&paying(), &store)).await;
    let interrupt = interrupted(&server).await;
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["pendingToolCallId"]),
        (&json!("pending"), &json!("c1"))
    );
    assert_eq!(
        (&session["runs"][0]["status"], &session["questions"][0]["interruptId"]),
        (&json!("interrupted"), &json!(interrupt))
    );
    assert_eq!(session["questions"][0]["runId"], "r1");

    let events = server.run(&resume("r2", &interrupt, &json!({"approved": true}))).await;
    assert_eq!(text_of(&events), "Done.");
    let result = events.iter().find(|event| event["type"] == "TOOL_CALL_RESULT").unwrap();
    assert_eq!(
        (&result["toolCallId"], &result["content"]),
        (&json!("c1"), &json!("paid"))
    );
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    let statuses: Vec<_> = session["runs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["status"])
        .collect();
    assert_eq!(
        (&session["status"], statuses),
        (&json!("completed"), vec![&json!("completed"); 2])
    );
    server.stop().await;
}

#[tokio::test]
async fn an_answer_survives_the_server_and_is_idempotent() {
    let store = store();
    let provider = paying();
    let server = Running::start(builder(&provider, &store)).await;
    let interrupt = interrupted(&server).await;
    server.kill().await;

    let server = Running::start(builder(&provider, &store)).await;
    let answer = json!({"answers": [{"interruptId": interrupt, "status": "resolved", "payload": true}]});
    let first = server.post("/api/v1/agent/runs/t/r1/answers", &answer).await;
    assert_eq!(first.status.as_u16(), 202, "{}", first.text);
    let run = first.json()["runId"].as_str().unwrap().to_owned();
    assert_eq!(
        server.follow("t", &run, None).await.last().unwrap().data["type"],
        "RUN_FINISHED"
    );
    // The same answer is the same run; another answer is too late.
    assert_eq!(
        server.post("/api/v1/agent/runs/t/r1/answers", &answer).await.json()["runId"],
        run
    );
    let other = json!({"answers": [{"interruptId": interrupt, "status": "resolved", "payload": false}]});
    server
        .post("/api/v1/agent/runs/t/r1/answers", &other)
        .await
        .assert_problem(409, "already_answered");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn answers_that_do_not_fit_change_nothing() {
    let server = Running::start(builder(&paying(), &store())).await;
    let interrupt = interrupted(&server).await;
    let path = "/api/v1/agent/runs/t/r1/answers";
    for (answers, status, code) in [
        (json!([]), 400, "invalid_request"),
        (
            json!([{"interruptId": "nobody", "status": "resolved", "payload": true}]),
            404,
            "not_found",
        ),
        (
            json!([{"interruptId": interrupt, "status": "resolved", "payload": "yes"}]),
            400,
            "invalid_request",
        ),
        (
            json!([{"interruptId": interrupt, "status": "perhaps"}]),
            400,
            "invalid_request",
        ),
        (json!("yes"), 400, "invalid_request"),
    ] {
        server
            .post(path, &json!({"answers": answers}))
            .await
            .assert_problem(status, code);
    }
    server
        .post("/api/v1/agent/runs/t/r9/answers", &json!({"answers": []}))
        .await
        .assert_problem(404, "not_found");
    let denied = server.run(&resume("r2", &interrupt, &json!({"approved": false}))).await;
    assert_eq!(text_of(&denied), "Done.");
    server.stop().await;
}

#[tokio::test]
async fn a_new_message_withdraws_the_question_if_the_policy_says_so() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Fine.")]);
    let server = Running::start(builder(&provider, &store()).with_busy(BusyPolicy::Interrupt)).await;
    let interrupt = interrupted(&server).await;
    let events = server.run(&input("t", "r2", "Never mind.")).await;
    assert_eq!((types(&events)[0], text_of(&events).as_str()), ("RUN_STARTED", "Fine."));
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["runs"][0]["status"], &session["questions"]),
        (&json!("cancelled"), &json!([]))
    );
    let late = server
        .post("/api/v1/agent/run", &resume("r3", &interrupt, &json!(true)))
        .await;
    late.assert_problem(409, "already_answered");
    server.stop().await;
}

#[tokio::test]
async fn a_new_message_is_refused_while_a_question_is_open() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Done."),
        ScriptStep::text("Fine."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let interrupt = interrupted(&server).await;
    let refused = server.post("/api/v1/agent/run", &input("t", "r2", "Never mind.")).await;
    refused.assert_problem(409, "session_busy");
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["runs"][0]["status"], &session["questions"][0]["interruptId"]),
        (&json!("interrupted"), &json!(interrupt))
    );
    let events = server.run(&resume("r3", &interrupt, &json!(true))).await;
    assert_eq!(text_of(&events), "Done.");
    let events = server.run(&input("t", "r2", "Never mind.")).await;
    assert_eq!(text_of(&events), "Fine.");
    server.stop().await;
}

/// Waits until runs have these statuses, in their order.
async fn wait_for(server: &Running, expected: &[&str]) -> Value {
    loop {
        let session = server.get("/api/v1/agent/sessions/t").await.json();
        let runs = session["runs"].as_array().unwrap();
        if runs
            .iter()
            .map(|run| run["status"].as_str().unwrap())
            .eq(expected.iter().copied())
        {
            return session;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn queued_messages_wait_for_the_answer() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "pay")]),
        ScriptStep::text("Done."),
        ScriptStep::text("Second."),
        ScriptStep::text("Third."),
    ]);
    let store = store();
    let queueing = || builder(&provider, &store).with_busy(BusyPolicy::Queue);
    let server = Running::start(queueing()).await;
    // Two are queued while the run is active that asks then, and one after it.
    let path = "/api/v1/agent/runs/t";
    for run in ["r1", "r2"] {
        assert_eq!(server.post(path, &input("t", run, "Pay.")).await.status.as_u16(), 202);
    }
    wait_for(&server, &["interrupted", "queued"]).await;
    assert_eq!(server.post(path, &input("t", "r3", "Hello")).await.status.as_u16(), 202);
    assert_eq!(server.post(path, &input("t", "r4", "Hello")).await.status.as_u16(), 202);
    let cancelled = server.post("/api/v1/agent/runs/t/r4/cancel", &json!({})).await;
    assert_eq!(cancelled.status.as_u16(), 200, "{}", cancelled.text);
    let session = wait_for(&server, &["interrupted", "queued", "queued", "cancelled"]).await;
    let interrupt = session["questions"][0]["interruptId"].as_str().unwrap().to_owned();
    server.stop().await;

    // The question and the order survive the server.
    let server = Running::start(queueing()).await;
    let events = server.run(&resume("r5", &interrupt, &json!(true))).await;
    assert_eq!(text_of(&events), "Done.");
    for (run, text) in [("r2", "Second."), ("r3", "Third.")] {
        let events = server.follow("t", run, None).await;
        assert_eq!(text_of(events.iter().map(|event| &event.data)), text);
    }
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["questions"]),
        (&json!("completed"), &json!([]))
    );
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn queued_messages_continue_when_the_asking_run_is_cancelled() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Second.")]);
    let server = Running::start(builder(&provider, &store()).with_busy(BusyPolicy::Queue)).await;
    interrupted(&server).await;
    server.post("/api/v1/agent/runs/t", &input("t", "r2", "Hello")).await;
    let cancelled = server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    assert_eq!(cancelled.json()["status"], "cancelled", "{}", cancelled.text);
    let events = server.follow("t", "r2", None).await;
    assert_eq!(text_of(events.iter().map(|event| &event.data)), "Second.");
    server.stop().await;
}

#[tokio::test]
async fn an_interrupted_run_can_be_cancelled() {
    let server = Running::start(builder(&paying(), &store())).await;
    let interrupt = interrupted(&server).await;
    let cancelled = server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    assert_eq!(cancelled.json()["status"], "cancelled", "{}", cancelled.text);
    let again = server.post("/api/v1/agent/runs/t/r1/cancel", &json!({})).await;
    assert_eq!(
        (again.status.as_u16(), &again.json()["status"]),
        (200, &json!("cancelled"))
    );
    let late = server
        .post("/api/v1/agent/run", &resume("r2", &interrupt, &json!(true)))
        .await;
    late.assert_problem(409, "already_answered");
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(session["questions"], json!([]));
    server.stop().await;
}
