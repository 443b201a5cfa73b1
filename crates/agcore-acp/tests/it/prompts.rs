//! Turns: prompts of all kinds, cancellation, second prompts, and how turns end.

use agcore_chat::{AssistantMessage, FinishReason};
use agcore_llm::{LlmError, LlmErrorKind};
use agcore_testkit::scripted::ScriptStep;
use serde_json::json;

use crate::support::{Stage, prompt};

#[tokio::test]
async fn a_turn_ends_for_a_reason() {
    let cut = ScriptStep::message(AssistantMessage::new("I was cut"), FinishReason::Length);
    let blocked = ScriptStep::message(AssistantMessage::new("No"), FinishReason::ContentFilter);
    let failed = ScriptStep::error(LlmError::new(LlmErrorKind::InvalidRequest, "the model does not exist"));
    let mut client = Stage::new([cut, blocked, failed, ScriptStep::text("Fine.")])
        .connect()
        .await;
    let id = client.session().await;
    assert_eq!(client.prompt(&id, "one").await, "max_tokens");
    assert_eq!(client.prompt(&id, "two").await, "refusal");
    let (code, message) = client.error("session/prompt", prompt(&id, "three")).await;
    assert_eq!(code, -32603);
    assert!(message.contains("the model does not exist"), "{message}");
    assert_eq!(client.prompt(&id, "four").await, "end_turn");
}

#[tokio::test]
async fn a_turn_is_cancelled_and_a_second_prompt_is_refused() {
    let stage = Stage::new([ScriptStep::hang(), ScriptStep::hang(), ScriptStep::text("Done.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    let first = client.begin("session/prompt", prompt(&id, "one")).await;
    let (code, message) = client.error("session/prompt", prompt(&id, "two")).await;
    assert_eq!(code, -32600);
    assert!(message.contains("a turn is running"), "{message}");
    let load = json!({"sessionId": id, "cwd": "/project", "mcpServers": []});
    assert_eq!(client.error("session/load", load).await.0, -32600);
    assert_eq!(client.error("session/delete", json!({"sessionId": id})).await.0, -32600);
    stage.asked(1).await;
    client.notify("session/cancel", json!({"sessionId": id})).await;
    assert_eq!(client.answer(first).await["result"]["stopReason"], "cancelled");
    // The request itself can be cancelled, too.
    let second = client.begin("session/prompt", prompt(&id, "three")).await;
    stage.asked(2).await;
    client.notify("$/cancel_request", json!({"requestId": second})).await;
    assert_eq!(client.answer(second).await["result"]["stopReason"], "cancelled");
    assert_eq!(client.prompt(&id, "four").await, "end_turn");
}

#[tokio::test]
async fn a_cancellation_that_comes_with_its_prompt_is_not_lost() {
    let mut client = Stage::new([ScriptStep::hang()]).connect().await;
    let id = client.session().await;
    let request = json!({"jsonrpc": "2.0", "id": 77, "method": "session/prompt", "params": prompt(&id, "x")});
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": id}});
    client.send_text(&format!("{request}\n{cancel}\n")).await;
    assert_eq!(client.answer(77).await["result"]["stopReason"], "cancelled");
}

#[tokio::test]
async fn closing_a_session_cancels_its_turn() {
    let mut client = Stage::new([ScriptStep::hang()]).connect().await;
    let id = client.session().await;
    let turn = client.begin("session/prompt", prompt(&id, "x")).await;
    let closing = client.begin("session/close", json!({"sessionId": id})).await;
    assert_eq!(client.answer(turn).await["result"]["stopReason"], "cancelled");
    assert!(client.answer(closing).await["result"].is_object());
}

#[tokio::test]
async fn a_prompt_has_files_images_and_sounds() {
    let stage = Stage::new([ScriptStep::text("I see.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    let blocks = json!([
        {"type": "text", "text": "Look at "},
        {"type": "resource_link", "uri": "file:///project/a%20b.rs", "name": "a b.rs"},
        {"type": "resource", "resource": {"uri": "file:///project/src/c.rs", "text": "fn c() {}"}},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "audio", "data": "aGk=", "mimeType": "audio/mpeg"},
    ]);
    client
        .ok("session/prompt", json!({"sessionId": id, "prompt": blocks}))
        .await;
    let requests = stage.model.requests();
    let sent = serde_json::to_value(requests[0].messages.last().unwrap()).unwrap();
    let parts = sent["content"].as_array().unwrap();
    assert_eq!(parts[1]["text"], "\n<linked-file path=\"a b.rs\"/>\n");
    assert_eq!(parts[2]["text"], "\n<file path=\"src/c.rs\">\nfn c() {}\n</file>\n");
    assert_eq!(parts[3]["image_url"]["url"], "data:image/png;base64,aGk=");
    assert_eq!(parts[4]["input_audio"], json!({"data": "aGk=", "format": "mp3"}));
}

#[tokio::test]
async fn an_unusable_prompt_does_not_reach_the_model() {
    let stage = Stage::new([]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    let image = |data: &str, kind: &str| json!([{"type": "image", "data": data, "mimeType": kind}]);
    let huge = "x".repeat(3 * 1024 * 1024);
    for blocks in [
        json!([]),
        json!([{"type": "text", "text": " \n"}]),
        json!([{"type": "text", "text": huge}]),
        json!([{"type": "resource", "resource": {"uri": "file:///project/a", "text": huge}}]),
        image("not base64!", "image/png"),
        image("", "image/png"),
        image("aGk=", "text/html"),
        image("aGk=", "image/png\",\"x"),
        image(&"aGkh".repeat(8 * 1024 * 1024), "image/png"),
        json!([{"type": "resource", "resource": {"uri": "file:///project/a", "blob": "aGk=", "mimeType": "application/zip"}}]),
        json!([{"type": "hologram"}]),
    ] {
        let shown: String = blocks.to_string().chars().take(80).collect();
        let (code, _) = client
            .error("session/prompt", json!({"sessionId": id, "prompt": blocks}))
            .await;
        assert_eq!(code, -32602, "{shown}");
    }
    assert!(stage.model.requests().is_empty());
}

#[tokio::test]
async fn a_command_needs_no_turn_and_an_unknown_one_is_a_message() {
    let stage = Stage::new([ScriptStep::text("What is that?")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    assert_eq!(client.prompt(&id, "/status  now ").await, "end_turn");
    assert_eq!(client.text("agent_message_chunk"), "status of now");
    assert!(stage.model.requests().is_empty());
    assert_eq!(client.prompt(&id, "/fly away").await, "end_turn");
    assert_eq!(stage.model.requests()[0].messages.last().unwrap().text(), "/fly away");
}

#[tokio::test]
async fn a_command_is_cancelled() {
    let stage = Stage::new([ScriptStep::text("Back.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    let waiting = client.begin("session/prompt", prompt(&id, "/wait")).await;
    client.notify("session/cancel", json!({"sessionId": id})).await;
    assert_eq!(client.answer(waiting).await["result"]["stopReason"], "cancelled");
    assert_eq!(client.prompt(&id, "Hello?").await, "end_turn");
}

#[tokio::test]
async fn a_command_with_a_file_is_a_message() {
    let stage = Stage::new([ScriptStep::text("I see.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    let blocks = json!([
        {"type": "text", "text": "/status"},
        {"type": "resource_link", "uri": "file:///project/a.rs", "name": "a.rs"},
    ]);
    client
        .ok("session/prompt", json!({"sessionId": id, "prompt": blocks}))
        .await;
    assert!(
        stage.model.requests()[0]
            .messages
            .last()
            .unwrap()
            .text()
            .contains("a.rs")
    );
}
