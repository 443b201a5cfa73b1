//! Tests of `agcore inspect stream`.

use serde_json::Value;

use crate::support::Agcore;

const STREAM: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\\n你好\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";

#[test]
fn folds_a_stream() {
    let agcore = Agcore::new().with_file("a.sse", STREAM);
    let shown = agcore.run(["inspect", "stream", "a.sse"]);
    let shown = shown.assert_success();
    assert!(shown.contains("text       Hello\n           你好\n"), "{shown}");
    assert!(
        shown.contains("finish     stop\n") && shown.contains("usage      3 in, 2 out"),
        "{shown}"
    );
    let ran = agcore.run_with(["inspect", "stream", "-", "--json"], STREAM.as_bytes());
    let result: Value = serde_json::from_str(ran.assert_success()).unwrap();
    assert_eq!(result["text"], "Hello\n你好");
    assert_eq!(result["usage"]["output"], 2);
}

#[test]
fn decodes_a_complete_response_with_a_call() {
    let body = r#"{"choices":[{"message":{"tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"get","arguments":"{\"a\": 1}"}}]},"finish_reason":"tool_calls"}]}"#;
    let agcore = Agcore::new().with_file("a.json", body);
    let ran = agcore.run(["inspect", "stream", "a.json"]);
    let shown = ran.assert_success();
    assert!(shown.contains("call       c1 get {\"a\""), "{shown}");
}

#[test]
fn shows_the_part_before_an_error() {
    let half = &STREAM[..STREAM.find("lo\\n").unwrap()];
    let agcore = Agcore::new().with_file("a.sse", half).with_file("b", "<html>no</html>");
    let ran = agcore.run(["inspect", "stream", "a.sse"]);
    ran.assert_failed(1, &["the response ends in an error"]);
    assert!(
        ran.stdout.contains("Hel") && ran.stdout.contains("error "),
        "{}",
        ran.stdout
    );
    agcore.run(["inspect", "stream", "b"]).assert_failed(1, &[]);
    agcore
        .run(["inspect", "stream", "gone"])
        .assert_failed(2, &["cannot read gone"]);
    agcore
        .run(["inspect", "stream", "a.sse", "--dialect", "nobody"])
        .assert_failed(2, &["does not support the API `nobody`"]);
}

/// An Anthropic stream with a text, a call and usage.
const MESSAGES: &str = "event: message_start
data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"m\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}

event: content_block_start
data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}

event: content_block_delta
data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hel\\u001b\"}}

event: content_block_stop
data: {\"type\":\"content_block_stop\",\"index\":0}

event: content_block_start
data: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"get\",\"input\":{}}}

event: content_block_delta
data: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1}\"}}

event: message_delta
data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":5}}

event: message_stop
data: {\"type\":\"message_stop\"}

";

#[test]
fn shows_increments_with_the_line_that_completed_them() {
    let agcore = Agcore::new().with_file("a.sse", MESSAGES);
    let ran = agcore.run(["inspect", "stream", "a.sse", "--dialect", "anthropic", "--deltas"]);
    let shown = ran.assert_success();
    let (deltas, folded) = shown.split_once("\n\n").unwrap();
    for line in [
        "    3  start      id=msg_1 model=m",
        "    9  text       \"Hel\\u001b\"",
        "name=get",
        "input=\"{\\\"a\\\":1}\"",
        "   21  finish     tool",
    ] {
        assert!(deltas.contains(line), "{line:?} is missing in {deltas}");
    }
    assert!(folded.contains("call       t1 get {\"a\""), "{folded}");
    // Increments before an error are shown.
    let half = &MESSAGES[..MESSAGES.find("event: content_block_stop").unwrap()];
    let agcore = agcore.with_file("b.sse", half);
    let ran = agcore.run(["inspect", "stream", "b.sse", "--dialect", "anthropic", "--deltas"]);
    ran.assert_failed(1, &["the response ends in an error"]);
    assert!(ran.stdout.contains("    9  text       \"Hel"), "{}", ran.stdout);
    // The JSON result has no increments.
    let both = ["inspect", "stream", "a.sse", "--deltas", "--json"];
    agcore
        .run(both)
        .assert_failed(2, &["'--deltas' cannot be used with '--json'"]);
    let unknown = ["inspect", "stream", "a.sse", "--deltas", "--dialect", "smoke"];
    agcore
        .run(unknown)
        .assert_failed(2, &["this build does not support the API `smoke`"]);
}

#[test]
fn shows_increments_of_every_dialect() {
    let check = |dialect: &str, body: &str, expected: &[&str]| {
        let agcore = Agcore::new().with_file("a", body);
        let ran = agcore.run(["inspect", "stream", "a", "--deltas", "--dialect", dialect]);
        for line in expected {
            assert!(
                ran.stdout.contains(line),
                "{dialect}: {line:?} is missing in {}",
                ran.stdout
            );
        }
    };
    check(
        "openai-chat",
        STREAM,
        &["    2  text       \"Hel\"", "    4  finish     stop"],
    );
    check(
        "ollama",
        "{\"message\":{\"content\":\"Hel\"},\"done\":false}\n{\"message\":{\"content\":\"lo\"},\"done\":true,\"done_reason\":\"stop\"}\n",
        &[
            "    1  text       \"Hel\"",
            "    2  text       \"lo\"",
            "finish     stop",
        ],
    );
    check(
        "openai-responses",
        "data: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"output_index\":0,\"content_index\":0,\"delta\":\"Hel\"}\n\n",
        &["    2  text       \"Hel\""],
    );
}
