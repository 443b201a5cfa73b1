//! Recording requests, the general checks of the server, and reading prompts.

use agcore_testkit::mock_server::{Api, MockOptions, Operation, Reply};
use hyper::header::{AUTHORIZATION, HeaderValue};
use serde_json::{Value, json};

use super::client::{CHAT, chat, get, minimal, path, post, request, send, serving, with_options};

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
    let server = with_options(MockOptions::new().without_recording()).await;
    for number in 0..2 {
        let received = post(&server, CHAT, &chat(false)).await;
        assert_eq!(received.header("x-request-id"), format!("req_mock{number}"));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn requires_a_key() {
    let server = with_options(MockOptions::new().with_key("right")).await;
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
    let server = with_options(MockOptions::new().with_models(["m"])).await;
    for api in Api::ALL {
        let mut body = minimal(api, false);
        assert_eq!(
            post(&server, &path(api, "m", false), &body).await.status,
            200,
            "{api:?}"
        );
        body["model"] = json!("other");
        assert_eq!(
            post(&server, &path(api, "other", false), &body).await.status,
            404,
            "{api:?}"
        );
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
    let server = with_options(MockOptions::new().with_prefix("/compatible-mode/v1")).await;
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

/// Returns the same request for Bedrock.
fn converse_request(schema: &Value) -> Value {
    json!({
        "system": [{ "text": "S" }],
        "toolConfig": { "tools": [
            { "toolSpec": { "name": "f", "description": "d", "inputSchema": { "json": schema } } },
        ] },
        "messages": [
            { "role": "user", "content": [{ "text": "U" }] },
            { "role": "assistant", "content": [
                { "reasoningContent": { "reasoningText": { "text": "T" } } }, { "text": "A" },
                { "toolUse": { "toolUseId": "1", "name": "f", "input": { "x": 1 } } },
            ] },
            { "role": "user", "content": [{ "toolResult": { "toolUseId": "1", "content": [{ "text": "R" }] } }] },
        ],
    })
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
        (Api::Bedrock, converse_request(&schema)),
        (
            Api::Gemini,
            json!({
                "systemInstruction": { "parts": [{ "text": "S" }] },
                "tools": [{ "functionDeclarations": [{ "name": "f", "description": "d", "parametersJsonSchema": schema }] }],
                "contents": [
                    { "role": "user", "parts": [{ "text": "U" }] },
                    { "role": "model", "parts": [
                        { "text": "T", "thought": true }, { "text": "A" },
                        { "functionCall": { "name": "f", "args": { "x": 1 } } },
                    ] },
                    { "role": "user", "parts": [{ "functionResponse": { "name": "f", "response": { "output": "R" } } }] },
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
