//! Answers to questions: edited arguments, and several at once.

use agcore_agent::{AgentBuilder, AgentSpec};
use agcore_chat::ToolCall;
use agcore_server::{Server, ServerBuilder};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use agcore_tools::{PermissionRules, Rule, RuleState, SuspendingApprover, typed};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::browser::Browser;
use crate::support::{Answer, InStore as _, Running, Store, builder, call, input, store};

/// A letter.
#[derive(Deserialize, JsonSchema)]
struct Letter {
    /// The address.
    to: String,
    /// The number of copies.
    copies: u8,
}

fn sending(provider: &ScriptedProvider, store: &Store) -> ServerBuilder {
    let send = typed("send", "Sends a letter.", |letter: Letter| async move {
        Ok(format!("{} copies to {}", letter.copies, letter.to))
    });
    let agent = AgentBuilder::new()
        .with_provider(provider.clone())
        .with_tool(send)
        .with_permissions(PermissionRules::default().with_rule(Rule::tool(RuleState::Ask, "send")))
        .with_approver(SuspendingApprover);
    Server::builder()
        .with_agent("ada", agent.build().unwrap(), AgentSpec::new("ada", "Be Ada."))
        .in_store(store)
        .with_console()
}

fn letter() -> ScriptStep {
    let call = ToolCall::function("c1", "send", r#"{"to": "ann\u202e", "copies": 3}"#);
    ScriptStep::calls([call])
}

/// Returns the id of the only open question.
async fn question(server: &Running) -> String {
    let questions = server.get("/api/v1/agent/questions").await.json();
    questions["questions"][0]["interruptId"].as_str().unwrap().to_owned()
}

/// Returns the result of the last call, after the run that continues has ended.
async fn result(server: &Running) -> Value {
    let runs = server.get("/api/v1/agent/runs").await.json();
    let run = runs["runs"][0]["runId"].as_str().unwrap().to_owned();
    let events = server.follow("t", &run, None).await;
    let result = events
        .iter()
        .rev()
        .find(|event| event.data["type"] == "TOOL_CALL_RESULT");
    result.unwrap().data["content"].clone()
}

/// Answers the question with arguments, from the inbox or from the chat.
async fn edit(browser: &Browser<'_>, id: &str, back: &str, arguments: &str) -> Answer {
    let fields = [
        ("question", id),
        ("decision", "edit"),
        ("arguments", arguments),
        ("reason", "a reason"),
        ("back", back),
    ];
    browser.submit("/console/inbox", "/console/inbox/t/r", &fields).await
}

#[tokio::test]
async fn edited_arguments_are_checked_and_run_exactly() {
    for back in ["/console/inbox", "/console/chat/t"] {
        let model = ScriptedProvider::new([letter(), ScriptStep::text("Good.")]);
        let server = Running::start(sending(&model, &store())).await;
        server.run(&input("t", "r", "Send")).await;
        let browser = Browser::new(&server);
        let id = question(&server).await;
        let page = browser.get(back).await.text;
        // What a field would hide is an escape in it.
        assert!(page.contains("&quot;to&quot;: &quot;ann\\u202e&quot;"), "{page}");

        for (arguments, part) in [
            (r#"{"to": "ben", "copies": 300}"#, "$.copies"),
            (r#"{"to": "ben"}"#, "copies"),
            (r#"{"to": 5, "copies": "x"}"#, "$.to"),
            (r#"{"to": "ben", "copies": 2, "to": "eve"}"#, "occurs twice"),
            (r#"["ben"]"#, "must be a JSON object"),
            (r#"{"to": "ben","#, "not valid JSON"),
        ] {
            let refused = edit(&browser, &id, back, arguments).await;
            assert_eq!(refused.status, 400, "{}", refused.text);
            // The text is still there, with the reason beside it, and no stream replaces it.
            let text = arguments.replace('"', "&quot;");
            assert!(
                refused.text.contains(&format!(">\n{text}</textarea>")),
                "{}",
                refused.text
            );
            let (_, after) = refused.text.split_once("aria-invalid=\"true\"").unwrap();
            assert!(after.contains(part), "{part}: {after}");
            assert!(refused.text.contains("value=\"a reason\""), "{}", refused.text);
            assert!(
                !refused.text.contains("data-live=\"/console/live/inbox\""),
                "{}",
                refused.text
            );
            assert_eq!(question(&server).await, id, "{arguments}");
        }

        let allowed = edit(&browser, &id, back, r#" {"copies": 2, "to": "ben"} "#).await;
        assert_eq!(browser.follow(&allowed).await.status, 200);
        assert_eq!(result(&server).await, "2 copies to ben");
        model.assert_done();
        server.stop().await;
    }
}

#[tokio::test]
async fn the_api_refuses_edited_arguments_that_do_not_fit() {
    let model = ScriptedProvider::new([letter(), ScriptStep::text("Good.")]);
    let server = Running::start(sending(&model, &store())).await;
    server.run(&input("t", "r", "Send")).await;
    let id = question(&server).await;
    let answer = |arguments: Value| {
        let payload = json!({"approved": true, "arguments": arguments});
        json!({"answers": [{"interruptId": id, "status": "resolved", "payload": payload}]})
    };
    let path = "/api/v1/agent/runs/t/r/answers";
    for wrong in [
        json!({"to": "ben", "copies": -1}),
        json!({}),
        json!({"to": null, "copies": 1}),
    ] {
        server
            .post(path, &answer(wrong))
            .await
            .assert_problem(400, "invalid_request");
    }
    let given = server.post(path, &answer(json!({"to": "ben", "copies": 1}))).await;
    assert_eq!(given.status, 202, "{}", given.text);
    assert_eq!(result(&server).await, "1 copies to ben");
    // The same answer again is the same run.
    let again = server.post(path, &answer(json!({"to": "ben", "copies": 1}))).await;
    assert_eq!(again.json()["runId"], given.json()["runId"]);
    server.stop().await;
}

#[tokio::test]
async fn arguments_that_were_not_changed_are_no_edit() {
    let model = ScriptedProvider::new([letter(), ScriptStep::text("Good.")]);
    let server = Running::start(sending(&model, &store())).await;
    server.run(&input("t", "r", "Send")).await;
    let id = question(&server).await;
    let browser = Browser::new(&server);
    let same = r#"{"copies": 3, "to": "ann\u202e"}"#;
    let allowed = edit(&browser, &id, "/console/inbox", same).await;
    assert_eq!(browser.follow(&allowed).await.status, 200);
    assert_eq!(result(&server).await, "3 copies to ann\u{202e}");
    server.stop().await;
}

#[tokio::test]
async fn several_questions_are_answered_together() {
    for (decision, shown, content) in [("allow", "allowed", "paid"), ("deny", "denied", "too dear")] {
        let ask = || ScriptStep::calls([call("c1", "pay")]);
        let good = || ScriptStep::text("Good.");
        let model = ScriptedProvider::new([ask(), ask(), ask(), good(), good()]);
        let server = Running::start(builder(&model, &store()).with_console()).await;
        for thread in ["a/1", "b", "c"] {
            server.run(&input(thread, "r", "Pay")).await;
        }
        let browser = Browser::new(&server);
        let page = browser.get("/console/inbox").await.text;
        let boxes: Vec<&str> = page
            .split("name=\"selected\" value=\"")
            .skip(1)
            .map(|rest| rest.split_once('"').unwrap().0)
            .collect();
        assert_eq!(boxes.len(), 3, "{page}");

        let nothing = browser
            .submit("/console/inbox", "/console/inbox/bulk", &[("decision", decision)])
            .await;
        assert!(nothing.text.contains("No question is selected"), "{}", nothing.text);
        let fields = [
            ("selected", boxes[0]),
            ("selected", boxes[1]),
            ("selected", boxes[1]),
            ("selected", "nothing/r/q"),
            ("decision", decision),
            ("reason", "too dear"),
        ];
        let answered = browser.submit("/console/inbox", "/console/inbox/bulk", &fields).await;
        assert_eq!(answered.status, 200, "{}", answered.text);
        let (_, report) = answered.text.split_once("role=\"status\"").unwrap();
        let report = report.split_once("</section>").unwrap().0;
        assert_eq!(report.matches(&format!(">{shown}<")).count(), 2, "{report}");
        assert_eq!(report.matches("was not accepted").count(), 1, "{report}");
        for thread in ["a%2F1", "b"] {
            ended(&server, thread).await;
            let history = server
                .get(&format!("/api/v1/agent/history?threadId={thread}"))
                .await
                .text;
            assert!(history.contains(content), "{history}");
        }

        // A second tab that sends the same, with one question more, learns who was faster, and what was not answered is.
        let late = [("selected", boxes[0]), ("selected", boxes[2]), ("decision", "deny")];
        let answered = browser.submit("/console/inbox", "/console/inbox/bulk", &late).await;
        let (_, report) = answered.text.split_once("role=\"status\"").unwrap();
        let report = report.split_once("</section>").unwrap().0;
        assert!(
            report.contains("was answered before") && report.contains(">denied<"),
            "{report}"
        );
        // A question is closed when the run with its answer begins.
        ended(&server, "c").await;
        assert!(browser.get("/console/inbox").await.text.contains("No open questions"));
        server.stop().await;
    }
}

/// Waits for the end of the newest run of a thread.
async fn ended(server: &Running, thread: &str) {
    let session = server.get(&format!("/api/v1/agent/sessions/{thread}")).await.json();
    let run = session["runs"].as_array().unwrap().last().unwrap()["runId"].clone();
    server.follow(thread, run.as_str().unwrap(), None).await;
}
