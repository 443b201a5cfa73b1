//! Recording and validating requests.

use agcore_testkit::mock_server::{Api, MockOptions, MockServer, Operation, RecordedRequest, Reply};
use hyper::header::{AUTHORIZATION, HeaderValue};
use serde_json::{Value, json};

use super::client::{CHAT, chat, get, minimal, post, request, send, serving};

async fn server(options: MockOptions) -> MockServer {
    MockServer::start_with(options, |_: &RecordedRequest| Reply::text("ok"))
        .await
        .unwrap()
}

#[tokio::test]
async fn records_requests_in_order() {
    let server = serving(Reply::text("ok")).await;
    let mut first = request("POST", "/v1/chat/completions?api-version=1", &chat(false).to_string());
    first
        .headers_mut()
        .insert(AUTHORIZATION, HeaderValue::from_static("Bearer sk-secret"));
    send(&server, first).await;
    send(&server, request("POST", CHAT, "not json")).await;

    let recorded = server.wait_for_requests(2).await;
    assert_eq!(recorded[0].number(), 0);
    assert_eq!((recorded[0].method(), recorded[0].path()), ("POST", CHAT));
    assert_eq!(recorded[0].query(), Some("api-version=1"));
    assert_eq!(recorded[0].header("authorization"), Some("Bearer sk-secret"));
    assert_eq!(recorded[0].json(), &chat(false));
    assert_eq!(
        (recorded[0].api(), recorded[0].operation()),
        (Api::OpenAiChat, Operation::Generate)
    );
    assert_eq!(recorded[1].body().as_ref(), b"not json");
    assert_eq!(recorded[1].json(), &Value::Null);

    let debug = format!("{:?}", recorded[0]);
    assert!(
        debug.contains("authorization: ***") && !debug.contains("sk-secret"),
        "{debug}"
    );
}

#[tokio::test]
async fn recording_can_be_disabled() {
    let server = server(MockOptions::new().without_recording()).await;
    for number in 0..2 {
        let received = post(&server, CHAT, &chat(false)).await;
        assert_eq!(received.header("x-request-id"), format!("req_mock{number}"));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn requires_a_key() {
    let server = server(MockOptions::new().with_key("right")).await;
    let with = async |name: &'static str, value: &'static str| {
        let mut request = request("POST", CHAT, &chat(false).to_string());
        request.headers_mut().insert(name, HeaderValue::from_static(value));
        send(&server, request).await
    };
    for (name, value) in [
        ("authorization", "Bearer right"),
        ("x-api-key", "right"),
        ("api-key", "right"),
    ] {
        assert_eq!(with(name, value).await.status, 200, "{name}");
    }
    let wrong = with("authorization", "Bearer wrong").await;
    assert_eq!(wrong.status, 401);
    assert_eq!(
        wrong.json(),
        json!({ "error": {
            "message": "Incorrect API key provided.", "type": "invalid_request_error", "param": null,
            "code": "invalid_api_key",
        } })
    );
    let none = post(&server, CHAT, &chat(false)).await;
    assert_eq!((none.status, &none.json()["error"]["code"]), (401, &Value::Null));
    assert_eq!(get(&server, "/v1/models").await.status, 401);
    assert_eq!(
        post(&server, "/v1/nowhere", &json!({})).await.status,
        404,
        "the path is checked first"
    );
}

#[tokio::test]
async fn rejects_unknown_models() {
    let server = server(MockOptions::new().with_models(["m"])).await;
    for api in Api::ALL {
        let mut body = minimal(api, false);
        assert_eq!(post(&server, &api.path("/v1"), &body).await.status, 200, "{api:?}");
        body["model"] = json!("other");
        assert_eq!(post(&server, &api.path("/v1"), &body).await.status, 404, "{api:?}");
    }
    let mut body = chat(false);
    body["model"] = json!("other");
    assert_eq!(
        post(&server, CHAT, &body).await.json()["error"]["code"],
        "model_not_found"
    );
}

#[tokio::test]
async fn rejects_unknown_paths_and_methods() {
    let server = server(MockOptions::new().with_prefix("/compatible-mode/v1")).await;
    let unknown = post(&server, "/chat/completions", &chat(false)).await;
    assert_eq!(unknown.status, 404);
    assert_eq!(
        unknown.json()["error"]["message"],
        "Unknown request URL: POST /chat/completions."
    );
    assert_eq!(
        post(&server, "/api/generate", &json!({})).await.json(),
        json!({ "error": "Unknown request URL: POST /api/generate." })
    );
    let wrong_method = get(&server, CHAT).await;
    assert_eq!((wrong_method.status, wrong_method.header("allow")), (405, "POST"));
    assert_eq!(
        post(&server, "/compatible-mode/v1/chat/completions", &chat(false))
            .await
            .status,
        200
    );
    assert_eq!(
        post(&server, "/openai/v1/chat/completions", &chat(false)).await.status,
        404
    );
}

#[tokio::test]
async fn rejects_bodies_that_are_not_an_object() {
    let server = serving(Reply::text("ok")).await;
    for body in ["", "[]", "{", "\"x\""] {
        let received = send(&server, request("POST", CHAT, body)).await;
        assert_eq!(received.status, 400, "{body}");
    }
}

/// Sends a request and returns the parameter or message of the error, or "" if the server accepts the request.
async fn rejection(options: MockOptions, api: Api, body: &Value) -> String {
    let received = post(&server(options).await, &api.path("/v1"), body).await;
    if received.status == 200 {
        return String::new();
    }
    assert_eq!(received.status, 400);
    let error = &received.json()["error"];
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
async fn pairs_ollama_results_by_id_or_else_by_name() {
    let calls = json!([
        { "id": "a", "function": { "name": "f", "arguments": {} } },
        { "id": "b", "function": { "name": "f", "arguments": {} } },
    ]);
    for (results, expected) in [
        (
            [json!({ "tool_call_id": "b" }), json!({ "tool_call_id": "a" })],
            ["b", "a"],
        ),
        ([json!({ "tool_name": "f" }), json!({ "tool_name": "f" })], ["a", "b"]),
        (
            [json!({ "tool_call_id": "a" }), json!({ "tool_name": "f" })],
            ["a", "b"],
        ),
    ] {
        let mut messages = vec![json!({ "role": "assistant", "content": "", "tool_calls": calls })];
        messages.extend(results.map(|mut result| {
            (result["role"], result["content"]) = (json!("tool"), json!("r"));
            result
        }));
        let server = serving(Reply::text("ok")).await;
        post(&server, "/api/chat", &json!({ "model": "m", "messages": messages })).await;
        let prompt = server.requests()[0].prompt();
        let answered: Vec<_> = prompt.turns[1..]
            .iter()
            .map(|turn| turn.tool_call_id.as_deref().unwrap())
            .collect();
        assert_eq!(answered, expected);
    }
}

#[tokio::test]
async fn reads_the_same_prompt_from_every_api() {
    let schema = json!({ "type": "object" });
    let function =
        json!([{ "type": "function", "function": { "name": "f", "description": "d", "parameters": schema } }]);
    for (api, body) in [
        (
            Api::OpenAiChat,
            json!({
                "model": "m", "tools": function, "messages": [
                    { "role": "system", "content": "S" }, { "role": "user", "content": [{ "type": "text", "text": "U" }] },
                    { "role": "assistant", "content": "A", "tool_calls": [
                        { "id": "1", "type": "function", "function": { "name": "f", "arguments": "{\"x\":1}" } },
                    ] },
                    { "role": "tool", "tool_call_id": "1", "content": "R" },
                ],
            }),
        ),
        (
            Api::Anthropic,
            json!({
                "model": "m", "max_tokens": 9, "system": [{ "type": "text", "text": "S" }],
                "tools": [{ "name": "f", "description": "d", "input_schema": schema }], "messages": [
                    { "role": "user", "content": "U" },
                    { "role": "assistant", "content": [
                        { "type": "thinking", "thinking": "T", "signature": "" }, { "type": "text", "text": "A" },
                        { "type": "tool_use", "id": "1", "name": "f", "input": { "x": 1 } },
                    ] },
                    { "role": "user", "content": [
                        { "type": "tool_result", "tool_use_id": "1", "content": [{ "type": "text", "text": "R" }] },
                    ] },
                ],
            }),
        ),
        (
            Api::OpenAiResponses,
            json!({
                "model": "m", "instructions": "S",
                "tools": [{ "type": "function", "name": "f", "description": "d", "parameters": schema }], "input": [
                    { "role": "user", "content": "U" }, { "type": "reasoning", "id": "r", "summary": [] },
                    { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "A" }] },
                    { "type": "function_call", "call_id": "1", "name": "f", "arguments": "{\"x\":1}" },
                    { "type": "function_call_output", "call_id": "1", "output": "R" },
                ],
            }),
        ),
        (
            Api::Ollama,
            json!({
                "model": "m", "stream": false, "tools": function, "messages": [
                    { "role": "system", "content": "S" }, { "role": "user", "content": "U" },
                    { "role": "assistant", "content": "A", "tool_calls": [
                        { "function": { "name": "f", "arguments": { "x": 1 } } },
                    ] },
                    { "role": "tool", "tool_name": "f", "content": "R" },
                ],
            }),
        ),
    ] {
        let server = serving(Reply::text("ok")).await;
        assert_eq!(post(&server, &api.path("/v1"), &body).await.status, 200, "{api:?}");
        let prompt = server.requests()[0].prompt();
        let texts: Vec<&str> = prompt.turns.iter().map(|turn| turn.text.as_str()).collect();
        assert_eq!(texts, ["S", "U", "A", "R"], "{api:?}");
        assert_eq!(
            (prompt.model.as_str(), prompt.last_user(), prompt.stream),
            ("m", "U", false)
        );
        let (call, result) = prompt.results()[0];
        assert_eq!((call.name.as_str(), call.json(), result), ("f", json!({ "x": 1 }), "R"));
        assert!(prompt.offers("f") && !prompt.offers("g"));
        assert_eq!(
            (prompt.tools[0].description.as_str(), &prompt.tools[0].parameters),
            ("d", &schema)
        );
    }
}
