//! Questions about calls: the effect of each answer, and remembered ones.

use agcore_chat::ToolCall;
use agcore_testkit::scripted::ScriptStep;
use serde_json::{Value, json};

use crate::support::{ALLOW, Client, Stage, prompt};

fn pay(id: &str, euros: u32) -> ScriptStep {
    ScriptStep::calls([ToolCall::function(id, "pay", json!({"euros": euros}).to_string())])
}

/// Returns the result that the model received of the last call.
fn result(stage: &Stage) -> String {
    stage
        .model
        .requests()
        .last()
        .unwrap()
        .messages
        .last()
        .unwrap()
        .text()
        .into_owned()
}

async fn started(stage: &Stage, answers: &[&'static str]) -> (Client, String) {
    let mut client = stage.connect().await;
    client.answers.extend(answers);
    let id = client.session().await;
    (client, id)
}

#[tokio::test]
async fn an_allowed_call_runs_and_the_question_shows_it() {
    let stage = Stage::new([pay("c1", 5), ScriptStep::text("Paid.")]);
    let (mut client, id) = started(&stage, &[ALLOW]).await;
    assert_eq!(client.prompt(&id, "Pay.").await, "end_turn");
    assert_eq!((stage.paid(), result(&stage).as_str()), (1, "paid 5 euros"));
    let question = &client.questions()[0]["params"];
    assert_eq!(question["sessionId"], id.as_str());
    let call = &question["toolCall"];
    assert_eq!(
        (&call["toolCallId"], &call["title"], &call["rawInput"]["euros"]),
        (&json!("c1"), &json!("pay"), &json!(5))
    );
    let kinds: Vec<&Value> = question["options"]
        .as_array()
        .unwrap()
        .iter()
        .map(|option| &option["kind"])
        .collect();
    assert_eq!(
        kinds,
        [
            "allow_once",
            "allow_always",
            "allow_always",
            "reject_once",
            "reject_always"
        ]
    );
    let calls = client.updates("tool_call");
    // Pending is the default, which is not written.
    assert_eq!(
        (&calls[0]["toolCallId"], &calls[0]["status"]),
        (&json!("c1"), &Value::Null)
    );
    let changes = client.updates("tool_call_update");
    assert_eq!(changes[0]["status"], "in_progress");
    assert_eq!(changes[1]["status"], "completed");
    assert_eq!(changes[1]["content"][0]["content"]["text"], "paid 5 euros");
}

#[tokio::test]
async fn a_rejected_call_does_not_run() {
    for option in ["reject_once", "never_offered", ""] {
        let stage = Stage::new([pay("c1", 5), ScriptStep::text("Then not.")]);
        let (mut client, id) = started(&stage, &[option]).await;
        assert_eq!(client.prompt(&id, "Pay.").await, "end_turn", "{option}");
        assert_eq!(stage.paid(), 0, "{option}");
        assert_eq!(client.updates("tool_call_update").last().unwrap()["status"], "failed");
    }
}

#[tokio::test]
async fn an_answer_that_is_no_answer_allows_nothing() {
    let outcomes = [
        json!({"result": {"outcome": {"outcome": "cancelled"}}}),
        json!({"result": {"outcome": {"outcome": "selected"}}}),
        json!({"result": {"outcome": "allow_once"}}),
        json!({"error": {"code": -32603, "message": "the editor has crashed"}}),
    ];
    for outcome in outcomes {
        let stage = Stage::new([
            pay("c1", 5),
            ScriptStep::text("Then not."),
            ScriptStep::text("Then not."),
        ]);
        let (mut client, id) = started(&stage, &[]).await;
        let turn = client.begin("session/prompt", prompt(&id, "Pay.")).await;
        let question = client.asked("session/request_permission").await;
        let mut answer = outcome.clone();
        answer["jsonrpc"] = "2.0".into();
        answer["id"] = question["id"].clone();
        client.answers.push_back("reject_once");
        client.send(&answer).await;
        client.answer(turn).await;
        assert_eq!(stage.paid(), 0, "{outcome}");
    }
}

#[tokio::test]
async fn an_answer_for_always_becomes_a_grant_and_one_for_the_session_does_not() {
    for (option, grants) in [("allow_always", 1), ("allow_session", 0)] {
        let steps = [
            pay("c1", 5),
            ScriptStep::text("Paid."),
            pay("c2", 7),
            ScriptStep::text("Paid."),
        ];
        let stage = Stage::new(steps);
        let (mut client, id) = started(&stage, &[option]).await;
        client.prompt(&id, "Pay.").await;
        client.prompt(&id, "Pay more.").await;
        assert_eq!((stage.paid(), client.questions().len()), (2, 1), "{option}");
        assert_eq!(stage.grants.all().len(), grants, "{option}");
    }
}

#[tokio::test]
async fn a_call_that_is_rejected_always_is_not_asked_about_again() {
    let steps = [pay("c1", 5), pay("c2", 5), pay("c3", 6), ScriptStep::text("Done.")];
    let stage = Stage::new(steps);
    let (mut client, id) = started(&stage, &["reject_always", ALLOW]).await;
    client.prompt(&id, "Pay.").await;
    assert_eq!((stage.paid(), client.questions().len()), (1, 2));
    assert!(stage.grants.all().is_empty());
}

#[tokio::test]
async fn a_turn_is_cancelled_during_a_question() {
    let stage = Stage::new([pay("c1", 5), ScriptStep::text("Back.")]);
    let (mut client, id) = started(&stage, &[]).await;
    let turn = client.begin("session/prompt", prompt(&id, "Pay.")).await;
    let question = client.asked("session/request_permission").await;
    client.notify("session/cancel", json!({"sessionId": id})).await;
    assert_eq!(client.answer(turn).await["result"]["stopReason"], "cancelled");
    // The answer comes too late, and the question was withdrawn.
    client.select(&question, ALLOW).await;
    assert_eq!(client.prompt(&id, "And now?").await, "end_turn");
    assert_eq!(stage.paid(), 0);
    let withdrawn = client
        .seen
        .iter()
        .find(|message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn.unwrap()["params"]["requestId"], question["id"]);
}

#[tokio::test]
async fn a_question_shows_all_arguments() {
    let stage = Stage::new([pay("c1", 5), ScriptStep::text("Paid.")]);
    let (mut client, id) = started(&stage, &[ALLOW]).await;
    client.prompt(&id, "Pay.").await;
    let content = &client.questions()[0]["params"]["toolCall"]["content"];
    assert_eq!(content[0]["content"]["text"], "```\n{\n  \"euros\": 5\n}\n```");
}

#[tokio::test]
async fn a_question_of_a_sub_agent_has_the_id_of_its_call() {
    let ask = || {
        ScriptStep::calls([ToolCall::function(
            "c1",
            "ask_helper",
            json!({"task": "Pay."}).to_string(),
        )])
    };
    let stage = Stage::new([
        ask(),
        pay("c1", 5),
        ScriptStep::text("Paid."),
        ScriptStep::text("Done."),
    ]);
    let (mut client, id) = started(&stage, &[ALLOW]).await;
    assert_eq!(client.prompt(&id, "Let it pay.").await, "end_turn");
    let shown = |client: &Client| client.questions()[0]["params"]["toolCall"]["toolCallId"].clone();
    assert_eq!(shown(&client), "c1/c1");
    let calls = client.updates("tool_call");
    assert_eq!(calls[1]["toolCallId"], "c1/c1");

    // The question has the same id when it is asked again.
    let stage = Stage::new([
        ask(),
        pay("h1", 5),
        ScriptStep::text("Paid."),
        ScriptStep::text("Done."),
    ]);
    let (mut client, id) = started(&stage, &[]).await;
    client.begin("session/prompt", prompt(&id, "Let it pay.")).await;
    client.asked("session/request_permission").await;
    assert_eq!(shown(&client), "c1/h1");
    client.leave().await.unwrap();
    stage.previewed.lock().unwrap().clear();
    let (mut client, _) = started(&stage, &[ALLOW]).await;
    let load = json!({"sessionId": id, "cwd": "/project", "mcpServers": []});
    client.ok("session/load", load).await;
    client.begin("session/prompt", prompt(&id, "Go on.")).await;
    client.asked("session/request_permission").await;
    assert_eq!(shown(&client), "c1/h1");
    // The file of the call that runs is bound to the question.
    assert_eq!(*stage.previewed.lock().unwrap(), ["h1"]);
}
