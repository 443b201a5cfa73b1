//! Conversations: text, tools, several runs, the same run twice.

use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::json;

use crate::support::{Running, builder, call, input, store, text_of, texts, types};

#[tokio::test]
async fn a_posted_run_streams_its_events_and_ends() {
    let provider = ScriptedProvider::new([
        ScriptStep::calls([call("c1", "say")]),
        ScriptStep::text("Good day."),
        ScriptStep::text("You are Ada."),
    ]);
    let server = Running::start(builder(&provider, &store())).await;
    let events = server.run(&input("t", "r1", "I am Ada.")).await;
    let types = types(&events);
    assert_eq!((types[0], types[types.len() - 1]), ("RUN_STARTED", "RUN_FINISHED"));
    assert!(types.contains(&"TOOL_CALL_RESULT"), "{types:?}");
    assert_eq!(text_of(&events), "Good day.");
    agcore_agui::check_order(events.iter().cloned()).unwrap();

    // The server has the conversation: only the newest message counts.
    let events = server.run(&input("t", "r2", "Who am I?")).await;
    assert_eq!(text_of(&events), "You are Ada.");
    let requests = provider.requests();
    let sent: Vec<_> = requests[2]
        .messages
        .iter()
        .map(|message| message.text().into_owned())
        .collect();
    assert!(
        sent.contains(&"I am Ada.".to_owned()) && sent.contains(&"Good day.".to_owned()),
        "{sent:?}"
    );
    server.stop().await;
}

#[tokio::test]
async fn the_history_shows_what_users_see() {
    let provider = ScriptedProvider::new([ScriptStep::calls([call("c1", "say")]), ScriptStep::text("Good day.")]);
    let server = Running::start(builder(&provider, &store())).await;
    server.run(&input("t", "r1", "Hello")).await;
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    let rows: Vec<_> = history["messages"].as_array().unwrap().iter().collect();
    let roles: Vec<_> = rows.iter().map(|row| row["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert!(rows.iter().all(|row| row["runId"] == "r1"), "{history}");
    let page = server.get("/api/v1/agent/history?threadId=t&limit=3").await.json();
    assert_eq!(page["before"], 2);
    let first = server
        .get("/api/v1/agent/history?threadId=t&limit=3&before=2")
        .await
        .json();
    assert_eq!(
        (first["messages"][0]["content"].as_str(), first.get("before")),
        (Some("Hello"), None)
    );

    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["title"], &session["status"]),
        (&json!("Hello"), &json!("completed"))
    );
    assert_eq!(session["runs"][0]["status"], "completed");
    let usage = server.get("/api/v1/agent/usage?threadId=t").await.json();
    assert_eq!(
        usage["total"],
        usage["sessions"][0]
            .as_object()
            .map(|_| usage["total"].clone())
            .unwrap()
    );
    server.stop().await;
}

#[tokio::test]
async fn the_same_run_is_started_once() {
    let provider = texts(["Good day."]);
    let server = Running::start(builder(&provider, &store())).await;
    let first = server.run(&input("t", "r1", "Hello")).await;
    // The client has lost the answer and asks again: it gets the same events.
    let again = server.run(&input("t", "r1", "Hello")).await;
    assert_eq!(first, again);
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Hello")).await;
    assert_eq!(
        (started.status.as_u16(), started.json()),
        (202, json!({"threadId": "t", "runId": "r1"}))
    );
    let other = server
        .post("/api/v1/agent/runs/t", &input("t", "r1", "Something else"))
        .await;
    other.assert_problem(409, "run_id_taken");
    provider.assert_done();
    server.stop().await;
}

#[tokio::test]
async fn a_started_run_is_followed_with_ids() {
    let server = Running::start(builder(&texts(["Good day."]), &store())).await;
    let started = server
        .post(
            "/api/v1/agent/runs/t",
            &json!({"messages": [{"id": "m", "role": "user", "content": "Hello"}]}),
        )
        .await;
    let run = started.json()["runId"].as_str().unwrap().to_owned();
    let events = server.follow("t", &run, None).await;
    let ids: Vec<_> = events.iter().map(|event| event.id.unwrap()).collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
    assert_eq!(text_of(events.iter().map(|event| &event.data)), "Good day.");
    server.stop().await;
}

#[tokio::test]
async fn a_run_that_fails_says_so() {
    let server = Running::start(builder(&ScriptedProvider::new([]), &store())).await;
    let events = server.run(&input("t", "r1", "Hello")).await;
    let last = events.last().unwrap();
    assert_eq!(last["type"], "RUN_ERROR", "{last}");
    assert!(last["code"].is_string());
    let session = server.get("/api/v1/agent/sessions/t").await.json();
    assert_eq!(
        (&session["status"], &session["runs"][0]["status"]),
        (&json!("failed"), &json!("failed"))
    );
    // The thread can be used again.
    assert_eq!(
        server.run(&input("t", "r2", "Hello")).await.last().unwrap()["type"],
        "RUN_ERROR"
    );
    server.stop().await;
}

#[tokio::test]
async fn runs_choose_their_agent() {
    let (ada, bob) = (
        texts(["I am Ada.", "I am Ada again."]),
        texts(["I am Bob.", "I am still Bob."]),
    );
    let store = store();
    let bundle = crate::support::agent(&bob).build().unwrap();
    let builder = builder(&ada, &store).with_agent("bob", bundle, agcore_agent::AgentSpec::new("bob", "Be Bob."));
    let server = Running::start(builder).await;
    assert_eq!(text_of(&server.run(&input("t1", "r1", "Hello")).await), "I am Ada.");
    let mut chosen = input("t2", "r1", "Hello");
    chosen["forwardedProps"] = json!({"agent": "bob"});
    assert_eq!(text_of(&server.run(&chosen).await), "I am Bob.");
    // A thread keeps its agent.
    assert_eq!(
        text_of(&server.run(&input("t2", "r2", "Hello")).await),
        "I am still Bob."
    );
    let posted = server
        .post("/api/v1/agent/agents/ada/run", &input("t3", "r1", "Hello"))
        .await;
    assert!(posted.text.contains("I am Ada again."), "{}", posted.text);
    let unknown = server
        .post("/api/v1/agent/agents/eve/run", &input("t4", "r1", "Hello"))
        .await;
    unknown.assert_problem(404, "agent_not_found");
    let agents = server.get("/api/v1/agent/agents").await.json();
    assert_eq!(agents["agents"].as_array().unwrap().len(), 2);
    server.stop().await;
}

#[tokio::test]
async fn the_superset_has_the_members_of_agcore_beside_the_others() {
    let server = Running::start(builder(&texts(["Good day."]), &store())).await;
    let posted = server
        .post("/api/v1/agent/run?dialect=superset", &input("t", "r1", "Hello"))
        .await;
    assert!(posted.text.contains(r#""answer":"Good day.""#), "{}", posted.text);
    let standard = server.run(&input("t", "r1", "Hello")).await;
    assert!(
        standard.iter().all(|event| event.get("answer").is_none()),
        "{standard:?}"
    );
    server.stop().await;
}
