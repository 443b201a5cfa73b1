//! Calls and plans as editors show them.

use agcore_chat::ToolCall;
use agcore_testkit::scripted::ScriptStep;
use serde_json::json;

use crate::support::{ALLOW, Stage};

#[tokio::test]
async fn a_plan_is_shown_in_place_of_its_call() {
    let plan = json!({"entries": [
        {"content": "Read", "status": "completed"},
        {"content": "Write", "status": "in_progress"},
    ]});
    let steps = [
        ScriptStep::calls([ToolCall::function("c1", "update_plan", plan.to_string())]),
        ScriptStep::text("Planned."),
    ];
    let stage = Stage::new(steps);
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.prompt(&id, "Plan.").await;
    let shown = &client.updates("plan")[0]["entries"];
    assert_eq!(
        shown[1],
        json!({"content": "Write", "priority": "medium", "status": "in_progress"})
    );
    assert!(client.updates("tool_call").is_empty() && client.updates("tool_call_update").is_empty());
    let result = stage.model.requests()[1].messages.last().unwrap().text().into_owned();
    assert_eq!(result, "The plan is shown: 1 of 2 done.");
    client
        .ok(
            "session/load",
            json!({"sessionId": id, "cwd": "/project", "mcpServers": []}),
        )
        .await;
    assert_eq!(client.updates("plan").len(), 2);
}

#[tokio::test]
async fn a_loaded_session_shows_its_calls_with_their_results() {
    let call = ToolCall::function("c1", "pay", r#"{"euros": 5}"#);
    let stage = Stage::new([ScriptStep::calls([call]), ScriptStep::text("Paid.")]);
    let mut client = stage.connect().await;
    let id = client.session().await;
    client.answers.push_back(ALLOW);
    client.prompt(&id, "Pay.").await;
    client.seen.clear();
    client
        .ok(
            "session/load",
            json!({"sessionId": id, "cwd": "/project", "mcpServers": []}),
        )
        .await;
    let call = &client.updates("tool_call")[0];
    assert_eq!(
        (&call["status"], &call["rawInput"]),
        (&json!("completed"), &json!({"euros": 5}))
    );
    assert_eq!(call["content"][0]["content"]["text"], "paid 5 euros");
}

#[tokio::test]
async fn a_folder_that_was_opened_through_a_link_keeps_its_name() {
    let call = ToolCall::function("changes", "pay", r#"{"euros": 5}"#);
    let stage = Stage::new([ScriptStep::calls([call]), ScriptStep::text("Paid.")]);
    let mut client = stage.connect().await;
    let opened = client
        .ok("session/new", json!({"cwd": "/link", "mcpServers": []}))
        .await;
    client.answers.push_back(ALLOW);
    let blocks = json!([
        {"type": "text", "text": "Pay "},
        {"type": "resource_link", "uri": "file:///link/bill.txt", "name": "bill.txt"},
        {"type": "resource_link", "uri": "file:///project/bill.txt", "name": "bill.txt"},
    ]);
    client
        .ok(
            "session/prompt",
            json!({"sessionId": opened["sessionId"], "prompt": blocks}),
        )
        .await;
    let sent = stage.model.requests()[0].messages.last().unwrap().text().into_owned();
    assert_eq!(sent.matches("<linked-file path=\"bill.txt\"/>").count(), 2, "{sent}");
    let done = client.updates("tool_call_update").pop().unwrap();
    assert_eq!(done["content"][0]["path"], "/link/bill.txt");
}
