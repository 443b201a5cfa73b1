//! Showing a thread again with one request.

use agcore_chat::Actor;
use agcore_server::BusyPolicy;
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use http::Method;
use serde_json::{Value, json};

use crate::{
    support::{Running, builder, call, input, store, text_of, texts, types},
    tenants::{bearer, tokens},
};

const CONNECT: &str = "/api/v1/agent/connect";

fn connecting(thread: &str) -> Value {
    let mut body = input(thread, "page-1", "ignored");
    body["messages"] = json!([]);
    body
}

/// Returns the events of a thread on which no run is active.
async fn shown(server: &Running, thread: &str) -> Vec<Value> {
    let body = connecting(thread);
    let stream = server.stream(Method::POST, CONNECT, &[], Some(&body)).await;
    let events: Vec<Value> = stream.rest().await.into_iter().map(|event| event.data).collect();
    agcore_agui::check_order(events.iter().cloned()).unwrap();
    events
}

/// Returns the roles and contents of a snapshot.
fn messages(event: &Value) -> Vec<(&str, &str)> {
    assert_eq!(event["type"], "MESSAGES_SNAPSHOT", "{event}");
    let messages = event["messages"].as_array().unwrap().iter();
    messages
        .map(|message| {
            let content = message["content"].as_str().unwrap_or_default();
            (message["role"].as_str().unwrap(), content)
        })
        .collect()
}

#[tokio::test]
async fn a_thread_without_runs_is_empty_also_if_another_user_has_it() {
    let store = store();
    let tokens = tokens(&store);
    let ann = bearer(&tokens, 1, Actor::new("acme", "ann")).await;
    let bob = bearer(&tokens, 2, Actor::new("acme", "bob")).await;
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "pay")])]);
    let server = Running::start(builder(&provider, &store).with_authenticator(tokens)).await;
    let connect = |token: &str, thread: &str| {
        let headers = [("authorization", token.to_owned())];
        let body = connecting(thread);
        let server = &server;
        async move {
            let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
            server.with(Method::POST, CONNECT, &headers, Some(&body)).await.text
        }
    };
    let new = connect(&bob, "t").await;
    for part in [r#""runId":"page-1""#, r#""messages":[]"#, "RUN_FINISHED"] {
        assert!(new.contains(part), "{new}");
    }
    let path = "/api/v1/agent/run";
    let headers = [("authorization", &*ann)];
    server
        .with(Method::POST, path, &headers, Some(&input("t", "r1", "Pay.")))
        .await;
    assert!(connect(&ann, "t").await.contains("interrupts"));
    assert_eq!(connect(&bob, "t").await, new);
    // Nothing was created by asking.
    let headers = [("authorization", &*bob)];
    let sessions = server.with(Method::GET, "/api/v1/agent/sessions", &headers, None).await;
    assert_eq!(sessions.json()["sessions"], json!([]));
    server.stop().await;
}

#[tokio::test]
async fn a_conversation_has_its_messages_and_its_state() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say"), call("c2", "missing")]),
        ScriptStep::text("Said."),
        ScriptStep::text("Bye."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let mut first = input("t", "r1", "Say it.");
    first["state"] = json!({"title": "Tea"});
    server.run(&first).await;
    server.run(&input("t", "r2", "Thanks.")).await;
    let events = shown(&server, "t").await;
    assert_eq!(
        types(&events),
        ["RUN_STARTED", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "RUN_FINISHED"]
    );
    assert_eq!(
        (&events[0]["runId"], &events[3]["runId"], &events[3]["outcome"]),
        (&json!("page-1"), &json!("page-1"), &Value::Null)
    );
    assert_eq!(
        (&events[2]["snapshot"], &events[2]["metadata"]["agcore"]["version"]),
        (&json!({"title": "Tea"}), &json!(1))
    );
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    let ids = |messages: &Value| -> Vec<Value> {
        let messages = messages.as_array().unwrap().iter();
        messages.map(|message| message["id"].clone()).collect()
    };
    assert_eq!(ids(&events[1]["messages"]), ids(&history["messages"]));
    let all = events[1]["messages"].as_array().unwrap();
    let calls: Vec<&Value> = all.iter().filter_map(|message| message.get("toolCalls")).collect();
    assert_eq!(calls[0][0]["function"], json!({"name": "say", "arguments": "{}"}));
    let mut results: Vec<&Value> = all.iter().filter(|message| message["role"] == "tool").collect();
    // In the order in which the calls have ended.
    results.sort_by_key(|result| result["toolCallId"].to_string());
    assert_eq!(
        (
            &results[0]["toolCallId"],
            &results[0]["content"],
            results[0].get("error")
        ),
        (&json!("c1"), &json!("said"), None)
    );
    assert!(results[1]["error"].is_string(), "{results:?}");
    let texts = messages(&events[1]);
    assert_eq!((texts[0], texts[5]), (("user", "Say it."), ("assistant", "Said.")));
    assert_eq!(texts[6..], [("user", "Thanks."), ("assistant", "Bye.")]);
    server.stop().await;
}

#[tokio::test]
async fn questions_and_calls_of_the_client_end_it_as_they_have_ended_the_run() {
    let asking = || ScriptStep::calls([call("c1", "pay")]);
    let client = ScriptStep::calls([call("c2", "show_map")]);
    let provider = ScriptedProvider::new([asking(), client]);
    let store = store();
    let queueing = || builder(&provider, &store).with_busy(BusyPolicy::Queue);
    let server = Running::start(queueing()).await;
    let mut ends = Vec::new();
    for thread in ["asking", "calling"] {
        let mut body = input(thread, "r1", "Do it.");
        body["tools"] = json!([{"name": "show_map", "description": "Shows a map.", "parameters": {}}]);
        ends.push(server.run(&body).await.pop().unwrap());
    }
    assert_eq!(ends[0]["outcome"]["type"], "interrupt", "{ends:?}");
    assert_eq!(ends[1]["outcome"]["pendingToolCallIds"], json!(["c2"]), "{ends:?}");
    // A message that waits for the answer does not hide the question.
    server
        .post("/api/v1/agent/runs/asking", &input("asking", "r2", "And?"))
        .await;
    server.kill().await;

    let server = Running::start(queueing()).await;
    for (thread, end) in ["asking", "calling"].into_iter().zip(ends) {
        let events = shown(&server, thread).await;
        assert_eq!(events.last().unwrap()["outcome"], end["outcome"], "{thread}");
        let (role, content) = messages(&events[1])[0];
        assert_eq!((role, content), ("user", "Do it."));
    }
    server.stop().await;
}

#[tokio::test]
async fn an_active_run_is_followed_until_it_ends() {
    let provider = ScriptedProvider::new([ScriptStep::text("Hello."), ScriptStep::text("Let me think").then_hang()]);
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&input("t", "r1", "Hello")).await;
    let mut body = input("t", "r2", "Think.");
    body["parentRunId"] = json!("r1");
    server.post("/api/v1/agent/runs/t", &body).await;
    let mut stream = server.stream(Method::POST, CONNECT, &[], Some(&connecting("t"))).await;
    let before = stream.until("TEXT_MESSAGE_CONTENT").await;
    let cancelled = server.post("/api/v1/agent/runs/t/r2/cancel", &json!({})).await;
    assert_eq!(cancelled.status.as_u16(), 200);
    let mut events = before.clone();
    events.extend(stream.rest().await);
    let data: Vec<Value> = events.iter().map(|event| event.data.clone()).collect();
    agcore_agui::check_order(data.iter().cloned()).unwrap();
    assert_eq!(
        (&data[0]["runId"], &data[0]["parentRunId"]),
        (&json!("r2"), &json!("r1"))
    );
    assert_eq!(
        messages(&data[1]),
        [("user", "Hello"), ("assistant", "Hello."), ("user", "Think.")]
    );
    assert_eq!(text_of(&data), "Let me think");
    assert_eq!(data.last().unwrap()["outcome"]["type"], "cancelled");
    // The events have the ids that they have in the run, so that a client can continue there.
    let whole = server.follow("t", "r2", None).await;
    assert_eq!(events[0].id, whole[0].id);
    assert_eq!(events[2..], whole[1..]);
    let after = server.follow("t", "r2", before.last().unwrap().id).await;
    assert_eq!(after, events[before.len()..]);
    server.stop().await;
}

#[tokio::test]
async fn only_the_newest_messages_of_a_long_thread_are_shown() {
    let provider = ScriptedProvider::new((0..101).map(|number| ScriptStep::text(format!("{number}"))));
    let server = Running::start(builder(&provider, &store())).await;
    for number in 0..101 {
        server.run(&input("t", &format!("r{number}"), "Next.")).await;
    }
    let events = shown(&server, "t").await;
    let messages = messages(&events[1]);
    assert_eq!((messages.len(), messages[1]), (200, ("assistant", "1")));
    server.stop().await;
}

#[tokio::test]
async fn wrong_requests_are_refused() {
    let server = Running::start(builder(&texts([]), &store())).await;
    let mut body = connecting("t");
    body.as_object_mut().unwrap().remove("threadId");
    let refused = server.post(CONNECT, &body).await;
    refused.assert_problem(400, "invalid_request");
    let refused = server.post(&format!("{CONNECT}?dialect=none"), &connecting("t")).await;
    refused.assert_problem(400, "invalid_request");
    server.stop().await;
}
