//! Questions that are answered by later requests.

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
async fn a_new_message_abandons_the_question() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")]), ScriptStep::text("Fine.")]);
    let server = Running::start(builder(&provider, &store())).await;
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
