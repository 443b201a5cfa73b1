//! Validating requests against the rules of each vendor.

use agcore_testkit::mock_server::{Api, MockOptions};
use serde_json::{Value, json};

use super::client::{minimal, post, with_options};

/// Sends a request and returns the parameter or message of the error, or "" if the server accepts the request.
async fn rejection(options: MockOptions, api: Api, body: &Value) -> String {
    let received = post(&with_options(options).await, &api.path("/v1"), body).await;
    if received.status == 200 {
        return String::new();
    }
    assert_eq!(received.status, 400);
    let body = received.json();
    // The errors of Bedrock are not nested.
    let error = if body["error"].is_null() { &body } else { &body["error"] };
    let text = [&error["param"], &error["message"], error]
        .into_iter()
        .find_map(Value::as_str);
    text.unwrap().to_owned()
}

/// Checks that a minimal request of the API with these members is rejected because of `expected`, or accepted if that
/// is "", and that a server without validation always accepts it.
async fn check(api: Api, members: Value, expected: &str) {
    let mut body = minimal(api, false);
    for (name, value) in members.as_object().unwrap() {
        body[name] = value.clone();
    }
    let reason = rejection(MockOptions::new(), api, &body).await;
    assert!(
        if expected.is_empty() {
            reason.is_empty()
        } else {
            reason.contains(expected)
        },
        "{members}: {reason}"
    );
    assert_eq!(rejection(MockOptions::new().without_validation(), api, &body).await, "");
}

fn call(id: &str) -> Value {
    json!({ "id": id, "type": "function", "function": { "name": "f", "arguments": "{}" } })
}

#[tokio::test]
async fn validates_chat_completions_requests() {
    let user = json!({ "role": "user", "content": "Hi" });
    let tools = json!([{ "type": "function", "function": { "name": "f", "parameters": {} } }]);
    let assistant = |calls: Value| json!({ "role": "assistant", "content": null, "tool_calls": calls });
    let tool = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "r" });
    for (members, expected) in [
        (json!({ "model": "" }), "model"),
        (json!({ "messages": [] }), "messages"),
        (json!({ "tools": [] }), "tools"),
        (json!({ "tools": tools, "tool_choice": "auto" }), ""),
        (json!({ "tool_choice": "auto" }), "tool_choice"),
        (json!({ "parallel_tool_calls": false }), "parallel_tool_calls"),
        (json!({ "tools": [{ "type": "web" }] }), "tools[0].type"),
        (json!({ "tools": [{ "type": "function", "function": {} }] }), "tools[0]"),
        (
            json!({ "tools": [{ "type": "custom", "custom": { "name": "c" } }] }),
            "",
        ),
        (json!({ "stream_options": { "include_usage": true } }), "stream_options"),
        (
            json!({ "messages": [{ "role": "bot", "content": "x" }] }),
            "messages[0].role",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": null }] }),
            "messages[0].content",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": "x" }] }] }),
            "",
        ),
        (
            json!({ "messages": [user, { "role": "assistant" }] }),
            "messages[1].content",
        ),
        (
            json!({ "messages": [user, { "role": "assistant", "refusal": "No." }] }),
            "",
        ),
        (json!({ "messages": [user, assistant(json!([]))] }), "messages[1]"),
        (
            json!({ "messages": [user, assistant(json!([call("a")])), tool("a")] }),
            "",
        ),
        (
            json!({ "messages": [user, assistant(json!([call("a"), call("b")])), tool("b"), tool("a"), user] }),
            "",
        ),
        (
            json!({ "messages": [user, assistant(json!([call("")])), tool("")] }),
            "tool_calls[0].id",
        ),
        (json!({ "messages": [user, assistant(json!([call("a")]))] }), "turn 2:"),
        (
            json!({ "messages": [user, assistant(json!([call("a")])), user] }),
            "turn 2:",
        ),
        (
            json!({ "messages": [user, assistant(json!([call("a")])), tool("b")] }),
            "turn 2:",
        ),
        (
            json!({ "messages": [user, assistant(json!([call("a")])), tool("a"), tool("a")] }),
            "turn 3:",
        ),
        (json!({ "messages": [user, tool("a")] }), "turn 1:"),
        (
            json!({ "messages": [user, assistant(json!([
                { "id": "a", "type": "function", "function": { "name": "f", "arguments": {} } }
            ])), tool("a")] }),
            "function.arguments",
        ),
        (
            json!({ "messages": [user, assistant(json!([
                { "id": "a", "type": "function", "function": { "name": "", "arguments": "{}" } }
            ])), tool("a")] }),
            "function.name",
        ),
    ] {
        check(Api::OpenAiChat, members, expected).await;
    }
}

#[tokio::test]
async fn validates_anthropic_requests() {
    let user = json!({ "role": "user", "content": "Hi" });
    let assistant = |blocks: Value| json!({ "role": "assistant", "content": blocks });
    let used = json!({ "type": "tool_use", "id": "a", "name": "f", "input": {} });
    let result = json!({ "type": "tool_result", "tool_use_id": "a", "content": "r" });
    let thought = json!({ "type": "thinking", "thinking": "", "signature": "s" });
    for (members, expected) in [
        (json!({ "max_tokens": null }), "max_tokens"),
        (json!({ "tool_choice": { "type": "auto" } }), "tool_choice"),
        (json!({ "tools": [{ "name": "f" }] }), "input_schema"),
        (
            json!({ "tools": [{ "name": "f", "input_schema": { "type": "object" } }] }),
            "",
        ),
        (
            json!({ "tools": [{ "type": "web_search_20250305", "name": "web_search" }] }),
            "",
        ),
        (json!({ "messages": [{ "role": "system", "content": "x" }] }), "role"),
        (json!({ "messages": [{ "role": "user", "content": "" }] }), "non-empty"),
        (
            json!({ "messages": [{ "role": "user", "content": [{ "type": "text", "text": "" }] }] }),
            "non-empty",
        ),
        (
            json!({ "messages": [user, assistant(json!([used])), { "role": "user", "content": [result] }] }),
            "",
        ),
        (
            json!({ "messages": [user, assistant(json!([used])), user] }),
            "missing results for: a",
        ),
        (
            json!({ "messages": [
                user, assistant(json!([used])),
                { "role": "user", "content": [{ "type": "text", "text": "x" }, result] },
            ] }),
            "must come first",
        ),
        (
            json!({ "messages": [user, { "role": "user", "content": [result] }] }),
            "does not match",
        ),
        (json!({ "messages": [user, assistant(json!([thought]))] }), "thinking"),
        (
            json!({ "messages": [user, assistant(json!([thought, { "type": "text", "text": "x" }]))] }),
            "",
        ),
        (
            json!({ "messages": [
                user, assistant(json!([{ "type": "tool_use", "id": "a", "name": "f", "input": "{}" }])),
                { "role": "user", "content": [result] },
            ] }),
            "dictionary",
        ),
    ] {
        check(Api::Anthropic, members, expected).await;
    }
}

#[tokio::test]
async fn validates_responses_requests() {
    let called = json!({ "type": "function_call", "call_id": "a", "name": "f", "arguments": "{}" });
    let output = json!({ "type": "function_call_output", "call_id": "a", "output": "r" });
    let part = |role: &str, kind: &str| json!([{ "role": role, "content": [{ "type": kind, "text": "x" }] }]);
    for (members, expected) in [
        (json!({ "input": "" }), "input"),
        (json!({ "input": [] }), "input"),
        (json!({ "tools": [{ "type": "function" }] }), "tools[0].name"),
        (json!({ "tools": [{ "type": "web_search" }] }), ""),
        (json!({ "input": part("user", "input_text") }), ""),
        (json!({ "input": part("user", "text") }), "content[0].type"),
        (json!({ "input": part("assistant", "output_text") }), ""),
        (json!({ "input": part("assistant", "input_text") }), "content[0].type"),
        (json!({ "input": [called, output] }), ""),
        (json!({ "input": [called] }), "turn 1:"),
        (json!({ "input": [output] }), "turn 0:"),
        (
            json!({ "input": [{ "type": "function_call", "name": "f", "arguments": "" }, output] }),
            "call_id",
        ),
    ] {
        check(Api::OpenAiResponses, members, expected).await;
    }
}

#[tokio::test]
async fn validates_ollama_requests() {
    let user = json!({ "role": "user", "content": "Hi" });
    let call = |arguments: Value| json!([{ "function": { "name": "f", "arguments": arguments } }]);
    for (members, expected) in [
        (json!({ "model": "" }), "model is required"),
        (
            json!({ "messages": [
                user, { "role": "assistant", "content": "", "tool_calls": call(json!({})) },
                { "role": "tool", "tool_name": "f", "content": "r" },
            ] }),
            "",
        ),
        (
            json!({ "messages": [
                user, { "role": "assistant", "content": "", "tool_calls": call(json!("{}")) },
                { "role": "tool", "tool_name": "f", "content": "r" },
            ] }),
            "want an object",
        ),
        (json!({ "options": { "stop": "END" } }), "must be of type array"),
        (json!({ "options": [] }), "want an object"),
        (json!({ "think": "max" }), ""),
        (json!({ "think": "minimal" }), "think must be"),
        (
            json!({ "messages": [{ "role": "user", "content": [] }] }),
            "want a string",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": "", "images": ["aGk="] }] }),
            "",
        ),
        (
            json!({ "messages": [{ "role": "user", "content": "", "images": ["data:image/png;base64,aGk="] }] }),
            "illegal base64",
        ),
    ] {
        check(Api::Ollama, members, expected).await;
    }
}

#[tokio::test]
async fn validates_gemini_requests() {
    let user = json!({ "role": "user", "parts": [{ "text": "Hi" }] });
    let call = |args: Value| json!({ "functionCall": { "name": "f", "args": args } });
    let result = json!({ "functionResponse": { "name": "f", "response": { "output": "r" } } });
    let model = |parts: Value| json!({ "role": "model", "parts": parts });
    let results = |parts: Value| json!({ "role": "user", "parts": parts });
    let two = json!([call(json!({})), call(json!({}))]);
    for (members, expected) in [
        (json!({}), ""),
        (json!({ "contents": [] }), "contents is not specified"),
        (
            json!({ "contents": [{ "role": "system", "parts": [{ "text": "Hi" }] }] }),
            "a valid role",
        ),
        (
            json!({ "contents": [{ "role": "user", "parts": [] }] }),
            "must not be empty",
        ),
        (
            json!({ "contents": [user, model(two.clone()), results(json!([result, result]))] }),
            "",
        ),
        (
            json!({ "contents": [user, model(two.clone()), results(json!([result]))] }),
            "the number of function response parts",
        ),
        (
            json!({ "contents": [user, model(json!([call(json!({}))])), results(json!([result, { "text": "x" }]))] }),
            "the number of function response parts",
        ),
        (
            json!({ "contents": [user, model(json!([call(json!("{}"))]))] }),
            "want an object",
        ),
        (
            json!({ "toolConfig": { "functionCallingConfig": { "mode": "ANY" } } }),
            "without function_declarations",
        ),
        (
            json!({ "generationConfig": { "thinkingConfig": { "thinkingBudget": 1, "thinkingLevel": "LOW" } } }),
            "only one of thinking budget and thinking level",
        ),
    ] {
        check(Api::Gemini, members, expected).await;
    }
}

#[tokio::test]
async fn validates_converse_requests() {
    let user = json!({ "role": "user", "content": [{ "text": "Hi" }] });
    let call = |id: &str| json!({ "toolUse": { "toolUseId": id, "name": "f", "input": {} } });
    let result = |id: &str| json!({ "toolResult": { "toolUseId": id, "content": [{ "text": "r" }] } });
    let assistant = |content: Value| json!({ "role": "assistant", "content": content });
    let of_user = |content: Value| json!({ "role": "user", "content": content });
    let tools = json!({ "tools": [{ "toolSpec": { "name": "f", "inputSchema": { "json": { "type": "object" } } } }] });
    let talk = |calls: Value, results: Value| json!({ "toolConfig": tools, "messages": [user, assistant(calls), of_user(results)] });
    let document = |name: &str| json!({ "document": { "name": name, "format": "txt", "source": { "bytes": "aGk=" } } });
    let point = json!({ "cachePoint": { "type": "default" } });
    for (members, expected) in [
        (json!({}), ""),
        (json!({ "messages": [] }), "must not be empty"),
        (
            json!({ "messages": [{ "role": "tool", "content": [{ "text": "Hi" }] }] }),
            "must be user or assistant",
        ),
        (json!({ "messages": [{ "role": "user", "content": [] }] }), "is empty"),
        (json!({ "messages": [of_user(json!([{ "text": " " }]))] }), "is blank"),
        (json!({ "messages": [user, user] }), ""),
        (talk(json!([call("a")]), json!([result("a")])), ""),
        (
            talk(json!([call("a")]), json!([result("b")])),
            "the toolUse blocks of the previous turn",
        ),
        (talk(json!([call("a")]), json!([result("a"), result("b")])), "exceeds"),
        (
            talk(
                json!([call("a")]),
                json!([{ "toolResult": { "toolUseId": "a", "content": [] } }]),
            ),
            "The content field of a toolResult is empty",
        ),
        (
            json!({ "messages": [user, assistant(json!([call("a")])), of_user(json!([result("a")]))] }),
            "The toolConfig field must be defined",
        ),
        (
            json!({ "messages": [of_user(json!([{ "text": "a" }, document("x"), document("x")]))] }),
            "must be unique",
        ),
        (
            json!({ "messages": [of_user(json!([{ "text": "a" }, point, point, point, point, point]))] }),
            "5 cache points",
        ),
    ] {
        check(Api::Bedrock, members, expected).await;
    }
}
