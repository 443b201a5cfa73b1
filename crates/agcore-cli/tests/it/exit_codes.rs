//! The exit code of every outcome, with and without machine-readable output. Signals are tested in `interrupts`, a closed
//! output in `output`.

use std::net::TcpListener;

use agcore_demo::Playground;
use agcore_testkit::mock_server::{Answer, ApiError, Finish, MockOptions, RecordedRequest, Reply, ToolCall};
use serde_json::{Value, json};

use crate::{
    machine::result,
    support::{Agcore, Server},
};

/// Asserts that a message ends with this code and status, whatever the format, and returns the result.
#[track_caller]
fn check(agcore: &Agcore, code: i32, status: &str) -> Value {
    let text = agcore.run(["chat", "hi"]);
    assert_eq!(text.code(), Some(code), "{}", text.stderr);
    assert_eq!(text.stderr.contains("error: "), code != 0, "{}", text.stderr);
    let ran = agcore.run(["chat", "hi", "--output-format", "json"]);
    assert_eq!(ran.code(), Some(code), "{}", ran.stderr);
    let result = result(&ran);
    assert_eq!(result["status"], status, "{result}");
    // The text is the same in both.
    let answer = result["text"].as_str().unwrap_or_default();
    assert_eq!(text.stdout.trim_end(), answer.trim_end());
    result
}

fn answering(reply: fn() -> Reply) -> Server {
    Server::start(MockOptions::new(), move |_: &RecordedRequest| reply())
}

#[test]
fn success_is_0() {
    let server = Server::playground();
    let result = check(&Agcore::talking_to(&server), 0, "ok");
    assert_eq!(result["error"], Value::Null);
}

#[test]
fn a_failing_model_is_1() {
    let server = answering(|| Reply::error(ApiError::new(400)));
    let result = check(&Agcore::talking_to(&server), 1, "error");
    assert_eq!(
        (&result["error"]["kind"], &result["text"]),
        (&json!("invalid_request"), &Value::Null)
    );
}

#[test]
fn invalid_settings_are_2() {
    let agcore = Agcore::new().with("AGCORE_PROVIDER", "opnai");
    let result = check(&agcore, 2, "error");
    assert_eq!(
        (&result["error"]["kind"], &result["num_model_calls"]),
        (&json!("usage"), &json!(0))
    );
}

#[test]
fn an_answer_without_text_is_5_unless_tools_ran() {
    for empty in ["", " \n"] {
        let server = Server::start(MockOptions::new(), move |_: &RecordedRequest| Reply::text(empty));
        let agcore = Agcore::talking_to(&server);
        check(&agcore, 5, "incomplete");
        let ran = agcore.run(["-p", "hi", "-q"]);
        ran.assert_failed(5, &["the answer is incomplete: it has no text"]);
    }
    let server = Server::start(
        MockOptions::new(),
        |request: &RecordedRequest| match request.json()["messages"]
            .as_array()
            .is_some_and(|messages| messages.len() > 2)
        {
            true => Reply::text(""),
            false => Reply::tool_calls([ToolCall::new("arithmetic", &json!({"expression": "1 + 1"}))]),
        },
    );
    Agcore::talking_to(&server).run(["-p", "hi"]).assert_success();
}

#[test]
fn a_missing_or_rejected_key_is_3() {
    let result = check(&Agcore::new(), 3, "error");
    assert_eq!(result["error"]["kind"], "auth");
    let server = Server::start(MockOptions::new().with_key("another key"), Playground::new());
    check(&Agcore::talking_to(&server), 3, "error");
}

#[test]
fn an_unreachable_server_is_4() {
    // The port was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let agcore = Agcore::new()
        .with("OPENAI_API_KEY", "x")
        .with("OPENAI_BASE_URL", &format!("http://{address}/v1"));
    let result = check(&agcore, 4, "error");
    assert_eq!(result["error"]["kind"], "connection");
}

#[test]
fn an_incomplete_answer_is_5() {
    let cut = || Reply::answer(Answer::new().with_text("half an").with_finish(Finish::Length));
    let server = answering(cut);
    let agcore = Agcore::talking_to(&server);
    let result = check(&agcore, 5, "incomplete");
    assert_eq!(
        (&result["stop_reason"], &result["text"]),
        (&json!("length"), &json!("half an"))
    );
    let ran = agcore.run(["chat", "hi"]);
    ran.assert_failed(
        5,
        &["error: the answer is incomplete: it was cut off at the token limit\n"],
    );
    let filtered = || Reply::answer(Answer::new().with_text("half").with_finish(Finish::ContentFilter));
    let server = answering(filtered);
    let result = check(&Agcore::talking_to(&server), 5, "incomplete");
    assert_eq!(result["stop_reason"], "content_filter");
    assert!(
        result["error"]["message"].as_str().unwrap().contains("content filter"),
        "{result}"
    );
}

/// A model that never stops to call tools.
#[test]
fn a_limit_is_7() {
    let call = || {
        let arguments = json!({"operation": "add", "a": 1, "b": 1});
        Reply::tool_calls(vec![ToolCall::new("arithmetic", &arguments)])
    };
    let server = answering(call);
    let agcore = Agcore::talking_to(&server);
    let ran = agcore.run(["chat", "hi", "--output-format", "json"]);
    assert_eq!(ran.code(), Some(7), "{}", ran.stderr);
    let result = result(&ran);
    assert_eq!(
        (&result["status"], &result["exit_code"]),
        (&json!("max_turns"), &json!(7)),
        "{result}"
    );
    agcore.run(["chat", "hi"]).assert_failed(7, &["limit"]);
}
