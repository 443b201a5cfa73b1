//! Editors that go: during a question, during a turn, without reading, and a program that is stopped.

use std::{sync::atomic::Ordering, time::Duration};

use agcore_chat::ToolCall;
use agcore_testkit::scripted::ScriptStep;
use serde_json::json;

use crate::support::{ALLOW, Stage, prompt, status};

fn pay(id: &str) -> ScriptStep {
    ScriptStep::calls([ToolCall::function(id, "pay", r#"{"euros": 5}"#)])
}

#[tokio::test]
async fn a_question_outlives_the_editor_and_is_asked_again() {
    let stage = Stage::new([
        pay("c1"),
        ScriptStep::text("Paid."),
        ScriptStep::text("You are welcome."),
    ]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.begin("session/prompt", prompt(&id, "Pay.")).await;
    client.asked("session/request_permission").await;
    client.leave().await.unwrap();
    assert_eq!((stage.paid(), status(&stage, &id).await.as_str()), (0, "Pending"));
    assert_eq!(stage.closed.load(Ordering::SeqCst), 1);

    let mut client = stage.connect().await;
    client
        .ok(
            "session/load",
            json!({"sessionId": id, "cwd": "/project", "mcpServers": []}),
        )
        .await;
    client.answers.push_back(ALLOW);
    assert_eq!(client.prompt(&id, "Thanks.").await, "end_turn");
    assert_eq!(stage.paid(), 1);
    assert_eq!(client.questions()[0]["params"]["toolCall"]["toolCallId"], "c1");
    let text = client.text("agent_message_chunk");
    assert!(text.ends_with("Paid.You are welcome."), "{text}");
}

#[tokio::test]
async fn a_question_that_is_not_answered_again_stays_open() {
    let stage = Stage::new([pay("c1"), ScriptStep::text("Then not."), ScriptStep::text("Good.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.begin("session/prompt", prompt(&id, "Pay.")).await;
    client.asked("session/request_permission").await;
    client.leave().await.unwrap();
    stage.previewed.lock().unwrap().clear();
    let mut client = stage.connect().await;
    client
        .ok(
            "session/resume",
            json!({"sessionId": id, "cwd": "/project", "mcpServers": []}),
        )
        .await;
    let turn = client.begin("session/prompt", prompt(&id, "Hello?")).await;
    client.asked("session/request_permission").await;
    client.notify("session/cancel", json!({"sessionId": id})).await;
    assert_eq!(client.answer(turn).await["result"]["stopReason"], "cancelled");
    assert_eq!(status(&stage, &id).await, "Pending");
    let note = client.text("agent_message_chunk");
    assert!(note.contains("still open, so the message was not sent"), "{note}");
    assert_eq!(*stage.previewed.lock().unwrap(), ["c1"]);
    let options = client.questions()[0]["params"]["options"].as_array().unwrap().len();
    assert_eq!(options, 2);
    client.answers.push_back("reject_once");
    assert_eq!(client.prompt(&id, "Hello?").await, "end_turn");
    assert_eq!((stage.paid(), status(&stage, &id).await.as_str()), (0, "Completed"));
}

#[tokio::test]
async fn a_turn_ends_with_its_editor() {
    let stage = Stage::new([ScriptStep::hang(), ScriptStep::text("Back.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.begin("session/prompt", prompt(&id, "Wait.")).await;
    stage.asked(1).await;
    client.leave().await.unwrap();
    assert_ne!(status(&stage, &id).await, "Running");
    let mut client = stage.connect().await;
    client
        .ok(
            "session/load",
            json!({"sessionId": id, "cwd": "/project", "mcpServers": []}),
        )
        .await;
    assert_eq!(client.prompt(&id, "Hello?").await, "end_turn");
}

#[tokio::test]
async fn a_program_that_is_stopped_closes_its_sessions() {
    let stage = Stage::new([pay("c1")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.begin("session/prompt", prompt(&id, "Pay.")).await;
    client.asked("session/request_permission").await;
    client.stop.cancel();
    while client.receive().await.is_some() {}
    client.leave().await.unwrap();
    assert_eq!(status(&stage, &id).await, "Pending");
    assert_eq!(stage.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn an_editor_that_goes_at_once_leaves_nothing() {
    let stage = Stage::new([]);
    stage.connect_raw().leave().await.unwrap();
    let mut client = stage.connect_raw();
    client
        .send_text("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initia")
        .await;
    client.leave().await.unwrap();
    assert_eq!(stage.closed.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_turn_that_asks_is_suspended_however_its_editor_goes() {
    for round in 0..40 {
        let stage = Stage::new([pay("c1")]);
        let mut client = stage.connect().await;
        let id = client.session().await;
        client.begin("session/prompt", prompt(&id, "Pay.")).await;
        client.asked("session/request_permission").await;
        match round % 2 {
            0 => client.leave().await.unwrap(),
            _ => client.die().await.unwrap(),
        }
        assert_eq!(status(&stage, &id).await, "Pending", "{round}");
    }
}

#[tokio::test]
async fn an_editor_that_is_killed_while_text_streams_is_no_failure() {
    let stage = Stage::new([ScriptStep::text("word ".repeat(10_000))]);
    let mut client = stage.connect_sized(512);
    client.ok("initialize", json!({"protocolVersion": 1})).await;
    let id = client.session().await;
    client.begin("session/prompt", prompt(&id, "Write.")).await;
    while client.updates("agent_message_chunk").is_empty() {
        client.receive().await.unwrap();
    }
    client.die().await.unwrap();
    assert_eq!(stage.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_program_that_is_stopped_does_not_wait_for_an_editor_that_does_not_read() {
    let stage = Stage::new([ScriptStep::text("word ".repeat(10_000))]);
    let mut client = stage.connect_sized(512);
    client.ok("initialize", json!({"protocolVersion": 1})).await;
    let id = client.session().await;
    client.begin("session/prompt", prompt(&id, "Write.")).await;
    stage.asked(1).await;
    client.stop.cancel();
    client.stays_deaf().await.unwrap();
    assert_eq!(stage.closed.load(Ordering::SeqCst), 1);
}

#[tokio::test(start_paused = true)]
async fn a_turn_is_cancelled_while_its_editor_does_not_read() {
    let stage = Stage::new([ScriptStep::text("word ".repeat(10_000))]);
    let mut client = stage.connect_sized(512);
    client.ok("initialize", json!({"protocolVersion": 1})).await;
    let id = client.session().await;
    let turn = client.begin("session/prompt", prompt(&id, "Write.")).await;
    // The clock does not move until nothing else can be done: all places are taken.
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(status(&stage, &id).await, "Running");
    client.notify("session/cancel", json!({"sessionId": id})).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_ne!(status(&stage, &id).await, "Running");
    assert_eq!(client.answer(turn).await["result"]["stopReason"], "cancelled");
}
