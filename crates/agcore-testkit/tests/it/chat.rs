//! Chat Completions: single bodies and streams, byte by byte.

use agcore_testkit::mock_server::{Answer, Chunking, Finish, Reply, TokenUsage, ToolCall};
use serde_json::{Value, json};

use super::client::{CHAT, ask, chat, post, serving};

fn usage() -> TokenUsage {
    TokenUsage::new(10, 5)
}

#[tokio::test]
async fn renders_a_text_as_a_single_body() {
    let received = ask(
        Reply::answer(Answer::new().with_text("Hello.").with_usage(usage())),
        false,
    )
    .await;
    assert_eq!(received.status, 200);
    assert_eq!(received.header("content-type"), "application/json");
    assert_eq!(received.header("x-request-id"), "req_mock0");
    assert_eq!(
        received.text(),
        concat!(
            r#"{"id":"chatcmpl-mock0","object":"chat.completion","created":1704067200,"model":"m","#,
            r#""choices":[{"index":0,"message":{"role":"assistant","content":"Hello.","refusal":null},"#,
            r#""logprobs":null,"finish_reason":"stop"}],"#,
            r#""usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}"#,
        )
    );
}

#[tokio::test]
async fn renders_a_text_as_a_stream() {
    let received = ask(Reply::text("Good day."), true).await;
    assert_eq!(received.header("content-type"), "text/event-stream; charset=utf-8");
    let chunk = |delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"chatcmpl-mock0\",\"object\":\"chat.completion.chunk\",\"created\":1704067200,\
             \"model\":\"m\",\"choices\":[{{\"index\":0,\"delta\":{delta},\"logprobs\":null,\
             \"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let expected = [
        chunk(r#"{"role":"assistant","content":"","refusal":null}"#, "null"),
        chunk(r#"{"content":"Good "}"#, "null"),
        chunk(r#"{"content":"day."}"#, "null"),
        chunk("{}", r#""stop""#),
        "data: [DONE]\n\n".to_owned(),
    ];
    assert_eq!(received.text(), expected.concat());
    assert_eq!(received.reads.len(), expected.len(), "one HTTP chunk per event");
    assert!(received.complete);
}

#[tokio::test]
async fn streams_token_counts_only_on_request() {
    let server = serving(Reply::answer(
        Answer::new().with_text("x").with_usage(usage().with_cached(4)),
    ))
    .await;
    let mut body = chat(true);
    assert!(!post(&server, CHAT, &body).await.text().contains("usage"));
    body["stream_options"] = json!({ "include_usage": true });
    let payloads = post(&server, CHAT, &body).await.payloads();
    let chunks: Vec<Value> = payloads
        .iter()
        .filter_map(|payload| serde_json::from_str(payload).ok())
        .collect();
    let (last, others) = chunks.split_last().unwrap();
    assert!(others.iter().all(|chunk| chunk.get("usage") == Some(&Value::Null)));
    assert_eq!(last["choices"], json!([]));
    assert_eq!(
        last["usage"],
        json!({
            "prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15,
            "prompt_tokens_details": { "cached_tokens": 4 },
        })
    );
}

/// Returns the members of all deltas as `name=value`, except for calls, which are returned as JSON.
async fn deltas(reply: Reply) -> Vec<String> {
    let payloads = ask(reply, true).await.payloads();
    let chunks = payloads
        .iter()
        .filter_map(|payload| serde_json::from_str::<Value>(payload).ok());
    let choices = chunks.flat_map(|chunk| chunk["choices"].as_array().cloned().unwrap_or_default());
    choices.skip(1).flat_map(|choice| members(&choice)).collect()
}

fn members(choice: &Value) -> Vec<String> {
    let members = choice["delta"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| match value {
            Value::Array(calls) => calls[0].to_string(),
            value => format!("{name}={}", value.as_str().unwrap()),
        });
    members
        .chain(choice["finish_reason"].as_str().map(|reason| format!("!{reason}")))
        .collect()
}

#[tokio::test]
async fn streams_parallel_calls_in_fragments() {
    let calls = [
        ToolCall::new("weather", &json!({ "city": "Rome" })).with_id("a"),
        ToolCall::raw("broken", "{\"x\":"),
    ];
    assert_eq!(
        deltas(Reply::tool_calls(calls).with_chunking(Chunking::Chars(9))).await,
        [
            r#"{"index":0,"id":"a","type":"function","function":{"name":"weather","arguments":""}}"#,
            r#"{"index":0,"function":{"arguments":"{\"city\":\""}}"#,
            r#"{"index":0,"function":{"arguments":"Rome\"}"}}"#,
            r#"{"index":1,"id":"call_mock0_1","type":"function","function":{"name":"broken","arguments":""}}"#,
            r#"{"index":1,"function":{"arguments":"{\"x\":"}}"#,
            "!tool_calls",
        ]
    );
}

#[tokio::test]
async fn streams_blocks_in_order() {
    let answer = Answer::new()
        .with_reasoning("Hm.")
        .with_text("Yes.")
        .with_refusal("No.");
    assert_eq!(
        deltas(Reply::answer(answer.clone())).await,
        ["reasoning_content=Hm.", "content=Yes.", "refusal=No.", "!stop"]
    );
    let renamed = answer
        .with_reasoning_member("reasoning")
        .with_finish(Finish::Other("eos".into()));
    assert_eq!(
        deltas(Reply::answer(renamed)).await,
        ["reasoning=Hm.", "content=Yes.", "refusal=No.", "!eos"]
    );
}

#[tokio::test]
async fn renders_calls_reasoning_and_extra_members_as_a_single_body() {
    let answer = Answer::new()
        .with_reasoning("Hm.")
        .with_call(ToolCall::new("weather", &json!({})).with_id("a"))
        .with_extra("service_tier", json!("default"))
        .with_model("m-2024")
        .with_id("fixed");
    let body = ask(Reply::answer(answer), false).await.json();
    assert_eq!(body["id"], "fixed");
    assert_eq!(body["model"], "m-2024");
    assert_eq!(body["service_tier"], "default");
    assert_eq!(
        body["choices"][0],
        json!({
            "index": 0, "logprobs": null, "finish_reason": "tool_calls",
            "message": {
                "role": "assistant", "content": null, "reasoning_content": "Hm.", "refusal": null,
                "tool_calls": [{
                    "id": "a", "type": "function", "function": { "name": "weather", "arguments": "{}" },
                }],
            },
        })
    );
}

#[tokio::test]
async fn renders_finish_reasons() {
    for (finish, expected) in [
        (Finish::Stop, "stop"),
        (Finish::Refusal, "stop"),
        (Finish::Length, "length"),
        (Finish::ToolCalls, "tool_calls"),
        (Finish::ContentFilter, "content_filter"),
    ] {
        let body = ask(Reply::answer(Answer::new().with_finish(finish)), false)
            .await
            .json();
        assert_eq!(body["choices"][0]["finish_reason"], expected);
        assert_eq!(body["choices"][0]["message"]["content"], "");
    }
}

#[tokio::test]
async fn estimated_counts_grow_with_the_request() {
    let server = serving(Reply::text("twelve chars")).await;
    let mut body = chat(false);
    let short = post(&server, CHAT, &body).await.json()["usage"].clone();
    assert_eq!(
        short,
        json!({ "prompt_tokens": 1, "completion_tokens": 3, "total_tokens": 4 })
    );
    body["messages"][0]["content"] = json!("a".repeat(41));
    assert_eq!(post(&server, CHAT, &body).await.json()["usage"]["prompt_tokens"], 11);
    let absent = serving(Reply::answer(Answer::new().with_text("x").without_usage())).await;
    assert!(post(&absent, CHAT, &chat(false)).await.json().get("usage").is_none());
}
