//! `agcore inspect stream`: one saved body.

use serde_json::Value;

use crate::support::Agcore;

const STREAM: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hel\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\\n你好\"},\"finish_reason\":\"stop\"}]}\n\n\
    data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":2}}\n\ndata: [DONE]\n\n";

#[test]
fn a_stream_is_folded() {
    let agcore = Agcore::new().with_file("a.sse", STREAM);
    let shown = agcore.run(["inspect", "stream", "a.sse"]);
    let shown = shown.assert_done();
    assert!(shown.contains("text       Hello\n           你好\n"), "{shown}");
    assert!(
        shown.contains("finish     stop\n") && shown.contains("usage      3 in, 2 out"),
        "{shown}"
    );
    let ran = agcore.run_with(["inspect", "stream", "-", "--json"], STREAM.as_bytes());
    let result: Value = serde_json::from_str(ran.assert_done()).unwrap();
    assert_eq!(result["text"], "Hello\n你好");
    assert_eq!(result["usage"]["output"], 2);
}

#[test]
fn a_whole_answer_and_a_call() {
    let body = r#"{"choices":[{"message":{"tool_calls":[{"id":"c1","type":"function",
        "function":{"name":"get","arguments":"{\"a\": 1}"}}]},"finish_reason":"tool_calls"}]}"#;
    let agcore = Agcore::new().with_file("a.json", body);
    let ran = agcore.run(["inspect", "stream", "a.json"]);
    let shown = ran.assert_done();
    assert!(shown.contains("call       c1 get {\"a\""), "{shown}");
}

#[test]
fn what_breaks_off_is_shown_as_far_as_it_goes() {
    let half = &STREAM[..STREAM.find("lo\\n").unwrap()];
    let agcore = Agcore::new().with_file("a.sse", half).with_file("b", "<html>no</html>");
    let ran = agcore.run(["inspect", "stream", "a.sse"]);
    ran.assert_failed(1, &["the answer ends in an error"]);
    assert!(
        ran.stdout.contains("Hel") && ran.stdout.contains("error "),
        "{}",
        ran.stdout
    );
    agcore.run(["inspect", "stream", "b"]).assert_failed(1, &[]);
    agcore
        .run(["inspect", "stream", "gone"])
        .assert_failed(2, &["gone cannot be read"]);
    agcore
        .run(["inspect", "stream", "a.sse", "--dialect", "nobody"])
        .assert_failed(2, &["the dialect `nobody`"]);
}
