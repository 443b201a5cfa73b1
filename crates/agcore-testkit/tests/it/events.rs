//! Faults that change events or the form of a reply.

use agcore_testkit::mock_server::{Answer, Api, ApiError, ErrorShape, Fault, Reply, ToolCall};
use serde_json::{Value, json};

use super::client::{ask, ask_api};

/// Streams "a b" with these faults and returns the events in short notation.
async fn stream(faults: impl IntoIterator<Item = Fault>) -> Vec<String> {
    let reply = faults.into_iter().fold(Reply::text("a b"), Reply::with_fault);
    ask(reply, true)
        .await
        .payloads()
        .iter()
        .map(|payload| notation(payload))
        .collect()
}

fn notation(payload: &str) -> String {
    let Ok(chunk) = serde_json::from_str::<Value>(payload) else {
        return payload.to_owned();
    };
    if !chunk["error"].is_null() {
        return format!("error {}", chunk["error"]["message"].as_str().unwrap());
    }
    let choice = &chunk["choices"][0];
    let finish = choice["finish_reason"]
        .as_str()
        .map(|reason| format!("finish {reason}"));
    finish.unwrap_or_else(|| format!("text {}", choice["delta"]["content"].as_str().unwrap()))
}

#[tokio::test]
async fn omits_the_finish_reason_and_the_terminal_marker() {
    assert_eq!(
        stream([]).await,
        ["text ", "text a ", "text b", "finish stop", "[DONE]"]
    );
    assert_eq!(
        stream([Fault::MissingDone]).await,
        ["text ", "text a ", "text b", "finish stop"]
    );
    assert_eq!(
        stream([Fault::MissingFinish]).await,
        ["text ", "text a ", "text b", "[DONE]"]
    );
    assert_eq!(
        stream([Fault::MissingFinish, Fault::MissingDone]).await,
        ["text ", "text a ", "text b"]
    );
}

#[tokio::test]
async fn adds_and_truncates_events() {
    let error = ApiError::new(503).with_message("Loading model");
    assert_eq!(
        stream([Fault::error_event(2, error)]).await,
        ["text ", "text a ", "error Loading model"]
    );
    assert_eq!(
        stream([Fault::extra_event(1, ": PROCESSING"), Fault::extra_event(0, "{]")]).await,
        [
            "{]",
            "text ",
            ": PROCESSING",
            "text a ",
            "text b",
            "finish stop",
            "[DONE]"
        ]
    );
    let broken = stream([Fault::Malformed { at: 1 }]).await;
    assert!(
        broken[1].starts_with("{\"id\"") && !broken[1].ends_with('}'),
        "{}",
        broken[1]
    );
    assert_eq!(broken[2], "text b");
}

#[tokio::test]
async fn renders_error_events_in_the_format_of_each_api() {
    for (api, expected) in [
        (
            Api::OpenAiChat,
            r#"{"error":{"message":"Overloaded","type":"server_error","param":null,"code":null}}"#,
        ),
        (
            Api::OpenAiResponses,
            r#"{"code":null,"message":"Overloaded","param":null,"type":"error"}"#,
        ),
        (
            Api::Anthropic,
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_mock0"}"#,
        ),
        (Api::Ollama, r#"{"error":"Overloaded"}"#),
        (
            Api::Gemini,
            r#"{"error":{"code":529,"message":"Overloaded","status":"INTERNAL"}}"#,
        ),
    ] {
        let reply = Reply::text("a b").with_fault(Fault::error_event(2, ApiError::new(529)));
        assert_eq!(ask_api(api, reply, true).await.payloads().last().unwrap(), expected);
    }
    let reply = Reply::text("a b").with_fault(Fault::error_event(2, ApiError::new(529)));
    let messages = ask_api(Api::Bedrock, reply, true).await.messages();
    let expected = (
        "serviceUnavailableException".to_owned(),
        json!({ "message": "Overloaded" }),
    );
    assert_eq!(messages.last(), Some(&expected));
    let nested = ApiError::new(500).with_shape(ErrorShape::OpenAi);
    let reply = Reply::text("a").with_fault(Fault::error_event(0, nested));
    let event = ask_api(Api::OpenAiResponses, reply, true).await.text();
    assert!(
        event.starts_with("event: error\ndata: {\"error\":{\"message\""),
        "{event}"
    );
}

#[tokio::test]
async fn pads_an_event() {
    for size in [64 * 1024, 20 * 1024 * 1024] {
        let reply = Reply::text("a b").with_fault(Fault::Huge { at: 1, bytes: size });
        let received = ask(reply, true).await;
        let payload = &received.payloads()[1];
        assert_eq!(payload.len(), size);
        assert_eq!(notation(payload), "text a ");
        let whole = Reply::text("a b").with_fault(Fault::Huge { at: 0, bytes: size });
        let body = ask(whole, false).await;
        assert_eq!(body.text().len(), size);
        assert_eq!(body.json()["choices"][0]["message"]["content"], "a b");
    }
}

#[tokio::test]
async fn gives_all_calls_the_same_id() {
    let calls = ["x", "y"].map(|name| ToolCall::new(name, &json!({})));
    let body = ask(Reply::tool_calls(calls).with_fault(Fault::DuplicateIds), false)
        .await
        .json();
    let calls = &body["choices"][0]["message"]["tool_calls"];
    assert_eq!(calls[0]["id"], "call_mock0_0");
    assert_eq!(calls[0]["id"], calls[1]["id"]);
}

#[tokio::test]
async fn sends_the_form_that_was_not_requested() {
    let whole = ask(Reply::text("a b").with_fault(Fault::WholeForStream), true).await;
    assert_eq!(whole.header("content-type"), "application/json");
    assert_eq!(whole.json()["object"], "chat.completion");
    let streamed = ask(Reply::text("a b").with_fault(Fault::StreamForWhole), false).await;
    assert_eq!(streamed.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(streamed.payloads().last().unwrap(), "[DONE]");
    let mislabeled = ask(
        Reply::text("a b").with_fault(Fault::ContentType("text/plain".into())),
        true,
    )
    .await;
    assert_eq!(mislabeled.header("content-type"), "text/plain");
    assert_eq!(mislabeled.headers.get_all("content-type").iter().count(), 1);
}

#[tokio::test]
async fn sends_raw_replies_unchanged() {
    let html = ask(Reply::html(200, "<html>Welcome</html>"), true).await;
    assert_eq!((html.status, html.text().as_str()), (200, "<html>Welcome</html>"));
    assert_eq!(html.header("content-type"), "text/html; charset=utf-8");

    let stream = ask(Reply::raw_stream(["data: {\"a\"", ":1}\n\n", "junk"]), true).await;
    assert_eq!(stream.reads, ["data: {\"a\"", ":1}\n\n", "junk"]);
    assert_eq!(stream.header("content-type"), "text/event-stream");

    let redirect = ask(Reply::redirect(307, "http://127.0.0.1:9/"), false).await;
    assert_eq!(
        (redirect.status, redirect.header("location")),
        (307, "http://127.0.0.1:9/")
    );

    let bytes = ask(Reply::raw(203, [("x-a", "b")], vec![0xFF, 0x00]), false).await;
    assert_eq!((bytes.status, bytes.header("x-a")), (203, "b"));
    assert_eq!(bytes.reads.concat(), [0xFF, 0x00]);

    let empty = ask(Reply::raw(200, [("x-a", "b")], ""), false).await;
    assert_eq!((empty.header("content-length"), empty.reads.len()), ("0", 0));
}

#[tokio::test]
async fn sets_headers_on_any_reply() {
    let reply = Reply::answer(Answer::new().with_text("x"))
        .with_header("X-Request-Id", "mine")
        .with_header("x-a", "b");
    let received = ask(reply, false).await;
    assert_eq!(received.header("x-request-id"), "mine");
    assert_eq!(received.header("x-a"), "b");
}
