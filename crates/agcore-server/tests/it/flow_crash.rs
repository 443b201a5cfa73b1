//! Flows whose process dies at any write, or whose database fails.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use agcore_chat::{AssistantMessage, ChatResponse, Choice, FinishReason, Message, SystemClock};
use agcore_session::InMemorySessionStore;
use agcore_testkit::{
    scripted::{ScriptStep, ScriptedProvider},
    stores::faulty::{FaultPlan, FaultyStore, StoreFault},
};
use http::StatusCode;
use serde_json::{Value, json};

use crate::{
    flows::{ROUTER, Tools, builder, decision},
    support::{FlowStore, Running, call, input},
};

/// Returns a model that answers each request by what it contains, so that repeated requests get the same reply.
pub(crate) fn model() -> ScriptedProvider {
    let step = || {
        ScriptStep::from_fn(|request| {
            let contains = |text: &str| request.messages.iter().any(|message| message.text().contains(text));
            let has_result = request
                .messages
                .iter()
                .any(|message| matches!(**message, Message::Tool(_)));
            let message = match (contains("Decide."), has_result) {
                (true, _) => AssistantMessage::new(decision("Say it.").to_string()),
                (false, true) => AssistantMessage::new("Said it."),
                (false, false) => AssistantMessage::from_blocks([call("c1", "say").into()]),
            };
            let finish = match message.has_tool_calls() {
                true => FinishReason::ToolCalls,
                false => FinishReason::Stop,
            };
            let choice = Choice {
                message,
                finish_reason: Some(finish),
                ..Choice::default()
            };
            ChatResponse {
                choices: vec![choice],
                ..ChatResponse::default()
            }
        })
    };
    ScriptedProvider::new((0..40).map(|_| step()))
}

/// Follows a run to its end, also through the questions whether a call runs again, and checks what remains of it.
async fn check_end(server: &Running, tools: &Tools, case: &str) {
    let mut run = "r1".to_owned();
    let mut all = Vec::new();
    let mut denied = false;
    loop {
        let data: Vec<Value> = server
            .follow("t", &run, None)
            .await
            .into_iter()
            .map(|event| event.data)
            .collect();
        agcore_agui::check_order(data.iter().cloned()).unwrap();
        let end = data.last().unwrap().clone();
        all.extend(data);
        assert_eq!(end["type"], "RUN_FINISHED", "{case}: {end}");
        let Some(asked) = end["outcome"]["interrupts"].as_array() else {
            break;
        };
        assert_eq!(asked[0]["reason"], "uncertain", "{case}");
        denied = true;
        let answer = json!({"answers": [{"interruptId": asked[0]["id"], "status": "resolved", "payload": false}]});
        let path = format!("/api/v1/agent/runs/t/{run}/answers");
        run = server.post(&path, &answer).await.json()["runId"]
            .as_str()
            .unwrap()
            .to_owned();
    }
    let count = |kind: &str| all.iter().filter(|event| event["type"] == kind).count();
    let history = server.get("/api/v1/agent/history?threadId=t").await.json();
    let messages = history["messages"].as_array().unwrap();
    let kinds: Vec<&str> = messages
        .iter()
        .map(|message| message["metadata"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["user_input", "tool_call", "tool_result", "assistant_output"],
        "{case}: {history}"
    );
    assert_eq!(messages[3]["content"], "Said it.", "{case}");
    assert_eq!(
        (count("TOOL_CALL_START"), count("TOOL_CALL_RESULT")),
        (1, 1),
        "{case}: {all:#?}"
    );
    assert!(tools.say_calls.load(Ordering::SeqCst) <= 1, "{case}");
    assert_eq!(messages[2]["metadata"]["is_error"], denied, "{case}");
    let whole = all.iter().filter(|event| {
        event["type"] == "TEXT_MESSAGE_END"
            && event["metadata"]["agcore"]["answer"] == "Said it."
            && event["metadata"]["agcore"].get("discarded").is_none()
    });
    assert_eq!(whole.count(), 1, "{case}: {all:#?}");
}

fn is_write(method: &str) -> bool {
    matches!(method, "commit" | "save_checkpoint" | "create" | "append")
}

#[tokio::test]
async fn a_flow_that_is_killed_at_any_write_loses_and_repeats_nothing() {
    for kill in 1.. {
        let inner = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
        let writes = AtomicUsize::new(0);
        let plan = FaultPlan::from_fn(move |_, method| {
            let number = if is_write(method) {
                writes.fetch_add(1, Ordering::SeqCst)
            } else {
                0
            };
            (is_write(method) && number == kill).then_some(StoreFault::Hold)
        });
        let faulty = Arc::new(FaultyStore::new(Arc::clone(&inner), plan));
        let store = FlowStore::of(Arc::clone(&faulty));
        let (tools, provider) = (Tools::default(), model());
        let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
        let started = async {
            let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
            assert_eq!(started.status, StatusCode::ACCEPTED, "{}", started.text);
            server.follow("t", "r1", None).await
        };
        let is_over = tokio::select! {
            _ = started => true,
            () = faulty.wait_for_held(1) => false,
        };
        server.kill().await;
        faulty.drop_holds();
        if is_over {
            assert!(kill > 10, "only {kill} writes");
            break;
        }
        let store = FlowStore::of(inner);
        let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
        // The client starts the run again, in case that it was not stored.
        server.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
        check_end(&server, &tools, &format!("killed at write {kill}")).await;
        server.stop().await;
    }
}

#[tokio::test]
async fn a_flow_survives_a_database_that_fails_and_loses_answers() {
    let faults = [StoreFault::Fail, StoreFault::LoseAnswer];
    let cases = (0..12).flat_map(|offset| faults.map(|fault| survive(offset, fault)));
    // Side by side, because each waits for its database now and then.
    futures_util::future::join_all(cases).await;
}

/// Runs a flow while every twelfth write goes wrong.
async fn survive(offset: usize, fault: StoreFault) {
    let inner = Arc::new(InMemorySessionStore::new(Arc::new(SystemClock::new())));
    let writes = AtomicUsize::new(0);
    let plan = FaultPlan::from_fn(move |_, method| {
        let is_write = matches!(method, "commit" | "save_checkpoint");
        let number = writes.fetch_add(usize::from(is_write), Ordering::SeqCst);
        // The first commit stores the run: if it fails, the client learns that.
        (is_write && number > 0 && number % 12 == offset).then_some(fault)
    });
    let faulty = Arc::new(FaultyStore::new(inner, plan));
    let store = FlowStore::of(faulty);
    let (tools, provider) = (Tools::default(), model());
    let server = Running::start(builder(tools.flow(ROUTER, &provider), &store)).await;
    let started = server.post("/api/v1/agent/runs/t", &input("t", "r1", "Say it.")).await;
    assert_eq!(started.status, StatusCode::ACCEPTED, "{}", started.text);
    let case = format!("{fault:?} at {offset}");
    check_end(&server, &tools, &case).await;
    let first = server.follow("t", "r1", None).await;
    assert_eq!(first, server.follow("t", "r1", None).await, "{case}");
    server.stop().await;
}
