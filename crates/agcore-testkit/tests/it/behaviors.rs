//! Behaviors: scripts.

use agcore_testkit::mock_server::{Mismatch, MockServer, RecordedRequest, Reply, Script};
use serde_json::json;

use super::client::{CHAT, Received, chat, post};

/// Returns the text of a Chat Completions reply.
fn text(received: &Received) -> String {
    received.json()["choices"][0]["message"]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test]
async fn plays_a_script_in_order_and_then_fails() {
    let script = Script::new([Reply::text("one")])
        .then_with(|request| Reply::text(format!("two for {}", request.prompt().last_user())));
    let server = MockServer::start(script).await.unwrap();
    assert_eq!(server.verify(), Err(Mismatch::Unused { count: 2 }));
    assert_eq!(text(&post(&server, CHAT, &chat(false)).await), "one");
    assert_eq!(server.verify(), Err(Mismatch::Unused { count: 1 }));
    assert_eq!(text(&post(&server, CHAT, &chat(false)).await), "two for Hi");
    server.assert_done();

    let over = post(&server, CHAT, &chat(true)).await;
    assert_eq!(over.status, 599);
    assert_eq!(over.header("x-should-retry"), "false");
    assert_eq!(
        over.json()["error"]["message"],
        "the script has no reply left for this request"
    );
    assert_eq!(server.verify(), Err(Mismatch::Overrun { count: 1 }));
}

#[tokio::test]
#[should_panic(expected = "mock server: 1 replies of the script were not requested")]
async fn an_unfinished_script_fails_its_test() {
    MockServer::start(Script::new([Reply::text("one")]))
        .await
        .unwrap()
        .assert_done();
}

#[tokio::test]
async fn a_rejected_request_does_not_consume_a_reply() {
    let server = MockServer::start(Script::new([Reply::text("one")])).await.unwrap();
    let mut body = chat(false);
    body["tools"] = json!([]);
    assert_eq!(post(&server, CHAT, &body).await.status, 400);
    assert_eq!(text(&post(&server, CHAT, &chat(false)).await), "one");
    server.assert_done();
}

#[tokio::test]
async fn reports_a_panicking_behavior() {
    let server = MockServer::start(|request: &RecordedRequest| {
        assert_eq!(request.prompt().last_user(), "Hello", "the greeting");
        Reply::text("never")
    })
    .await
    .unwrap();
    let received = post(&server, CHAT, &chat(false)).await;
    assert_eq!(received.status, 599);
    assert!(received.text().contains("the behavior panicked: ") && received.text().contains("the greeting"));
    assert!(matches!(server.verify(), Err(Mismatch::Panicked { count: 1, .. })));
}

#[tokio::test]
async fn parses_a_script() {
    let script = Script::from_json(
        r#"{ "steps": [
            { "text": "one", "usage": { "input": 7, "output": 3, "cached": 2 }, "model": "other", "finish": "length" },
            { "tool_calls": [{ "name": "f", "arguments": { "x": 1 }, "id": "i" }, { "name": "g", "arguments": "{" }] },
            { "error": { "status": 503, "message": "no", "type": "t", "retry_after": "2", "shape": "vllm_flat" } },
            { "raw": { "status": 404, "headers": { "x-a": "b" }, "body": "gone" } },
            { "text": "abcdef", "chunking": { "chars": 2 }, "headers": { "x-c": "d" }, "faults": [
                "missing_done", { "split_at": [1] }, { "line_ends": "cr_lf" },
                { "cut": { "at": { "after_events": 3 }, "ending": "clean" } }
            ] }
        ] }"#,
    );
    let server = MockServer::start(script.unwrap()).await.unwrap();
    let one = post(&server, CHAT, &chat(false)).await.json();
    assert_eq!(
        (&one["model"], &one["usage"]["total_tokens"]),
        (&json!("other"), &json!(10))
    );
    assert_eq!(one["choices"][0]["finish_reason"], "length");
    let calls = &post(&server, CHAT, &chat(false)).await.json()["choices"][0]["message"]["tool_calls"];
    assert_eq!(
        calls[0],
        json!({ "id": "i", "type": "function", "function": { "name": "f", "arguments": "{\"x\":1}" } })
    );
    assert_eq!(calls[1]["function"]["arguments"], "{");
    let error = post(&server, CHAT, &chat(false)).await;
    assert_eq!((error.status, error.header("retry-after")), (503, "2"));
    assert_eq!(error.json()["object"], "error");
    let raw = post(&server, CHAT, &chat(false)).await;
    assert_eq!((raw.status, raw.header("x-a"), raw.text().as_str()), (404, "b", "gone"));
    let stream = post(&server, CHAT, &chat(true)).await;
    assert_eq!((stream.header("x-c"), stream.reads[0].as_ref()), ("d", &b"d"[..]));
    let body = stream.text();
    assert!(
        body.contains("\"content\":\"cd\"") && !body.contains("\"ef\"") && body.ends_with("\r\n\r\n"),
        "{body}"
    );
    server.assert_done();
}

#[test]
fn reports_an_invalid_script() {
    let check = |text: &str, expected: &str| {
        let error = Script::from_json(text).unwrap_err();
        let source = std::error::Error::source(&error)
            .map(ToString::to_string)
            .unwrap_or_default();
        let message = format!("{error}: {source}");
        assert!(message.contains(expected), "{message}");
    };
    check("{", "line 1 column 1");
    check(r#"{"steps": [{"txt": "x"}]}"#, "unknown field `txt`");
    check(r#"{"steps": [{"text": "x"}, {}]}"#, "step 1 of the script");
    check(
        r#"{"steps": [{"text": "x", "error": {"status": 500}}]}"#,
        "step 0 of the script",
    );
    check(
        r#"{"steps": [{"text": "x", "faults": ["no_such"]}]}"#,
        "unknown variant `no_such`",
    );
}
