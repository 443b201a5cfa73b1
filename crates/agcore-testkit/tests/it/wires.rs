//! The other APIs: single bodies and streams.

use agcore_testkit::mock_server::{Answer, Api, Chunking, Fault, Finish, MockOptions, Reply, TokenUsage, ToolCall};
use serde_json::{Value, json};

use super::client::{ask_api, get, post, with_options};

/// Returns an answer with signed reasoning, text, two calls and detailed token usage.
fn rich() -> Answer {
    Answer::new()
        .with_signed_reasoning("Hm.", "seal")
        .with_text("Let me see.")
        .with_call(ToolCall::new("weather", &json!({ "city": "Rome" })).with_id("c1"))
        .with_call(ToolCall::new("time", &json!({})).with_id("c2"))
        .with_usage(
            TokenUsage::new(100, 20)
                .with_cached(30)
                .with_cache_write(10)
                .with_reasoning(5),
        )
}

async fn whole(api: Api, answer: Answer) -> Value {
    ask_api(api, Reply::answer(answer), false).await.json()
}

async fn events(api: Api, reply: Reply) -> Vec<Value> {
    let payloads = ask_api(api, reply.with_chunking(Chunking::Whole), true)
        .await
        .payloads();
    payloads
        .iter()
        .map(|payload| serde_json::from_str(payload).unwrap())
        .collect()
}

#[tokio::test]
async fn renders_an_anthropic_body() {
    assert_eq!(
        whole(Api::Anthropic, rich()).await,
        json!({
            "id": "msg_mock0", "type": "message", "role": "assistant", "model": "m",
            "content": [
                { "type": "thinking", "thinking": "Hm.", "signature": "seal" },
                { "type": "text", "text": "Let me see." },
                { "type": "tool_use", "id": "c1", "name": "weather", "input": { "city": "Rome" } },
                { "type": "tool_use", "id": "c2", "name": "time", "input": {} },
            ],
            "stop_reason": "tool_use", "stop_sequence": null,
            "usage": {
                "input_tokens": 60, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 30,
                "output_tokens": 20, "output_tokens_details": { "thinking_tokens": 5 },
            },
        })
    );
}

#[tokio::test]
async fn renders_an_anthropic_stream() {
    let received = ask_api(Api::Anthropic, Reply::text("Good day."), true).await;
    assert_eq!(received.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(
        received.text(),
        concat!(
            "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_mock0\",",
            "\"type\":\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,",
            "\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"cache_creation_input_tokens\":0,",
            "\"cache_read_input_tokens\":0,\"output_tokens\":1}}}\n\n",
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,",
            "\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"Good \"}}\n\n",
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,",
            "\"delta\":{\"type\":\"text_delta\",\"text\":\"day.\"}}\n\n",
            "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
            "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",",
            "\"stop_sequence\":null},\"usage\":{\"output_tokens\":3}}\n\n",
            "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
        )
    );
}

#[tokio::test]
async fn renders_blocks_in_an_anthropic_stream() {
    let answer = rich().with_redacted_reasoning("sealed");
    let events = events(Api::Anthropic, Reply::answer(answer)).await;
    let contents = |index: u64, kind: &str| -> Vec<Value> {
        let matching = events
            .iter()
            .filter(|event| event["index"] == index && event["type"] == kind);
        matching
            .map(|event| {
                [&event["delta"], &event["content_block"]]
                    .into_iter()
                    .find(|v| !v.is_null())
                    .unwrap()
                    .clone()
            })
            .collect()
    };
    assert_eq!(
        contents(0, "content_block_delta"),
        [
            json!({ "type": "thinking_delta", "thinking": "Hm." }),
            json!({ "type": "signature_delta", "signature": "seal" }),
        ]
    );
    assert_eq!(
        contents(2, "content_block_start"),
        [json!({ "type": "tool_use", "id": "c1", "name": "weather", "input": {} })]
    );
    assert_eq!(
        contents(2, "content_block_delta"),
        [
            json!({ "type": "input_json_delta", "partial_json": "" }),
            json!({ "type": "input_json_delta", "partial_json": "{\"city\":\"Rome\"}" }),
        ]
    );
    assert_eq!(
        contents(4, "content_block_start"),
        [json!({ "type": "redacted_thinking", "data": "sealed" })]
    );
    assert_eq!(events.last().unwrap()["type"], "message_stop");
}

#[tokio::test]
async fn renders_a_responses_body() {
    let body = whole(Api::OpenAiResponses, rich()).await;
    assert_eq!(
        (&body["id"], &body["object"], &body["status"]),
        (&json!("resp_mock0"), &json!("response"), &json!("completed"))
    );
    assert_eq!(
        body["output"],
        json!([
            {
                "id": "rs_mock0_0", "type": "reasoning", "summary": [{ "type": "summary_text", "text": "Hm." }],
                "encrypted_content": "seal",
            },
            {
                "id": "msg_mock0_1", "type": "message", "status": "completed", "role": "assistant",
                "content": [{ "type": "output_text", "annotations": [], "text": "Let me see." }],
            },
            {
                "id": "fc_mock0_2", "type": "function_call", "status": "completed", "call_id": "c1", "name": "weather",
                "arguments": "{\"city\":\"Rome\"}",
            },
            {
                "id": "fc_mock0_3", "type": "function_call", "status": "completed", "call_id": "c2", "name": "time",
                "arguments": "{}",
            },
        ])
    );
    assert_eq!(
        body["usage"],
        json!({
            "input_tokens": 100, "input_tokens_details": { "cached_tokens": 30 },
            "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 5 }, "total_tokens": 120,
        })
    );
}

#[tokio::test]
async fn renders_a_responses_stream() {
    let events = events(Api::OpenAiResponses, Reply::answer(rich())).await;
    let names: Vec<&str> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.reasoning_summary_part.added",
            "response.reasoning_summary_text.delta",
            "response.reasoning_summary_text.done",
            "response.reasoning_summary_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert!(
        events
            .iter()
            .enumerate()
            .all(|(number, event)| event["sequence_number"] == number)
    );
    assert_eq!(
        events[10],
        json!({
            "type": "response.output_text.delta", "sequence_number": 10, "item_id": "msg_mock0_1",
            "output_index": 1, "content_index": 0, "delta": "Let me see.",
        })
    );
    assert_eq!(events[0]["response"]["status"], "in_progress");
    assert_eq!(events[22]["response"], whole(Api::OpenAiResponses, rich()).await);
}

#[tokio::test]
async fn truncated_responses_are_incomplete() {
    for (finish, reason) in [
        (Finish::Length, "max_output_tokens"),
        (Finish::ContentFilter, "content_filter"),
    ] {
        let answer = Answer::new().with_text("x").with_finish(finish);
        let body = whole(Api::OpenAiResponses, answer.clone()).await;
        assert_eq!(
            (&body["status"], &body["incomplete_details"]["reason"]),
            (&json!("incomplete"), &json!(reason))
        );
        let events = events(Api::OpenAiResponses, Reply::answer(answer)).await;
        assert_eq!(events.last().unwrap()["type"], "response.incomplete");
    }
    let refusal = Answer::new().with_refusal("No.");
    let events = events(Api::OpenAiResponses, Reply::answer(refusal)).await;
    assert_eq!(
        (&events[4]["type"], &events[4]["delta"]),
        (&json!("response.refusal.delta"), &json!("No."))
    );
}

#[tokio::test]
async fn renders_an_ollama_body() {
    assert_eq!(
        whole(Api::Ollama, rich()).await,
        json!({
            "model": "m", "created_at": "2024-01-01T00:00:00Z",
            "message": {
                "role": "assistant", "content": "Let me see.", "thinking": "Hm.",
                "tool_calls": [
                    { "id": "c1", "function": { "index": 0, "name": "weather", "arguments": { "city": "Rome" } } },
                    { "id": "c2", "function": { "index": 1, "name": "time", "arguments": {} } },
                ],
            },
            "done": true, "done_reason": "stop", "total_duration": 0, "load_duration": 0,
            "prompt_eval_count": 100, "prompt_eval_cached_count": 30, "prompt_eval_duration": 0, "eval_count": 20,
            "eval_duration": 0,
        })
    );
}

#[tokio::test]
async fn renders_an_ollama_stream() {
    let received = ask_api(Api::Ollama, Reply::text("Good day."), true).await;
    assert_eq!(received.header("content-type"), "application/x-ndjson");
    let line = |content: &str, rest: &str| {
        format!(
            "{{\"model\":\"m\",\"created_at\":\"2024-01-01T00:00:00Z\",\
             \"message\":{{\"role\":\"assistant\",\"content\":\"{content}\"}},{rest}}}\n"
        )
    };
    let counts = "\"done\":true,\"done_reason\":\"stop\",\"total_duration\":0,\"load_duration\":0,\
                  \"prompt_eval_count\":1,\"prompt_eval_duration\":0,\"eval_count\":3,\"eval_duration\":0";
    let expected = [
        line("Good ", "\"done\":false"),
        line("day.", "\"done\":false"),
        line("", counts),
    ];
    assert_eq!(received.text(), expected.concat());

    let lines = events(Api::Ollama, Reply::answer(rich())).await;
    assert_eq!(lines[0]["message"]["thinking"], "Hm.");
    assert_eq!(
        lines[2]["message"]["tool_calls"][0]["function"]["arguments"],
        json!({ "city": "Rome" })
    );
    assert_eq!(lines[3]["message"]["tool_calls"][0]["function"]["index"], 1);
}

#[tokio::test]
async fn renders_a_gemini_body() {
    assert_eq!(
        whole(Api::Gemini, rich()).await,
        json!({
            "candidates": [{
                "content": { "role": "model", "parts": [
                    { "text": "Hm.", "thought": true },
                    { "text": "Let me see.", "thoughtSignature": "seal" },
                    { "functionCall": { "id": "c1", "name": "weather", "args": { "city": "Rome" } } },
                    { "functionCall": { "id": "c2", "name": "time", "args": {} } },
                ] },
                "index": 0, "finishReason": "STOP",
            }],
            "usageMetadata": {
                "promptTokenCount": 100, "candidatesTokenCount": 15, "thoughtsTokenCount": 5,
                "cachedContentTokenCount": 30, "totalTokenCount": 120,
            },
            "modelVersion": "m", "responseId": "mock0",
        })
    );
}

#[tokio::test]
async fn renders_a_gemini_stream() {
    let received = ask_api(Api::Gemini, Reply::text("Good day."), true).await;
    assert_eq!(received.header("content-type"), "text/event-stream; charset=utf-8");
    let chunk = |content: &str, rest: &str, usage: &str| {
        format!(
            "data: {{\"candidates\":[{{\"content\":{{\"role\":\"model\"{content}}},\"index\":0{rest}}}],\
             \"usageMetadata\":{{\"promptTokenCount\":1,{usage}}},\"modelVersion\":\"m\",\"responseId\":\"mock0\"}}\n\n"
        )
    };
    let early = "\"totalTokenCount\":1";
    let expected = [
        chunk(",\"parts\":[{\"text\":\"Good \"}]", "", early),
        chunk(",\"parts\":[{\"text\":\"day.\"}]", "", early),
        chunk(
            "",
            ",\"finishReason\":\"STOP\"",
            "\"candidatesTokenCount\":3,\"totalTokenCount\":4",
        ),
    ];
    assert_eq!(received.text(), expected.concat());

    let part = |event: &Value| event["candidates"][0]["content"]["parts"][0].clone();
    let events = events(Api::Gemini, Reply::answer(rich())).await;
    assert_eq!(part(&events[0]), json!({ "text": "Hm.", "thought": true }));
    assert_eq!(part(&events[2])["thoughtSignature"], "seal", "it is on the first call");
    assert_eq!(part(&events[3]).get("thoughtSignature"), None);
    let signed = Answer::new().with_signed_reasoning("Hm.", "seal").with_text("Hi");
    let events = self::events(Api::Gemini, Reply::answer(signed)).await;
    assert_eq!(
        part(events.last().unwrap()),
        json!({ "text": "", "thoughtSignature": "seal" })
    );
}

#[tokio::test]
async fn embeds_for_gemini_and_lists_its_models() {
    let server = with_options(MockOptions::new().with_models(["m"])).await;
    let request = |text: &str| json!({ "content": { "parts": [{ "text": text }] }, "outputDimensionality": 4 });
    let body = json!({ "requests": [request("a"), request("b")] });
    let reply = post(&server, "/v1beta/models/m:batchEmbedContents", &body).await.json();
    assert_eq!(reply["embeddings"].as_array().unwrap().len(), 2);
    assert_eq!(reply["embeddings"][0]["values"].as_array().unwrap().len(), 4);
    let unknown = post(&server, "/v1beta/models/x:batchEmbedContents", &body).await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]["status"]),
        (404, &json!("NOT_FOUND"))
    );
    let models = get(&server, "/v1beta/models").await.json();
    assert_eq!(models["models"][0]["name"], "models/m");
}

#[tokio::test]
async fn renders_a_converse_body() {
    assert_eq!(
        whole(Api::Bedrock, rich()).await,
        json!({
            "metrics": { "latencyMs": 100 },
            "output": { "message": { "role": "assistant", "content": [
                { "reasoningContent": { "reasoningText": { "text": "Hm.", "signature": "seal" } } },
                { "text": "Let me see." },
                { "toolUse": { "toolUseId": "c1", "name": "weather", "input": { "city": "Rome" } } },
                { "toolUse": { "toolUseId": "c2", "name": "time", "input": {} } },
            ] } },
            "stopReason": "tool_use",
            "usage": {
                "inputTokens": 60, "outputTokens": 20, "totalTokens": 120, "cacheReadInputTokens": 30,
                "cacheWriteInputTokens": 10,
            },
        })
    );
}

#[tokio::test]
async fn renders_a_converse_stream() {
    let received = ask_api(Api::Bedrock, Reply::answer(rich()).with_chunking(Chunking::Whole), true).await;
    assert_eq!(received.header("content-type"), "application/vnd.amazon.eventstream");
    let mut messages = received.messages();
    let names: Vec<String> = messages.iter().map(|(name, _)| name.clone()).collect();
    let block = |starts: usize, deltas: usize| {
        let starts = std::iter::repeat_n("contentBlockStart", starts);
        let deltas = std::iter::repeat_n("contentBlockDelta", deltas);
        starts.chain(deltas).chain(["contentBlockStop"]).collect::<Vec<_>>()
    };
    let blocks = [block(0, 2), block(0, 1), block(1, 2), block(1, 2)].concat();
    let expected = [vec!["messageStart"], blocks, vec!["messageStop", "metadata"]].concat();
    assert_eq!(names, expected);
    assert!(
        messages.iter().all(|(_, payload)| payload["p"].is_string()),
        "every event has padding"
    );
    let (_, last) = messages.pop().unwrap();
    assert_eq!(last["usage"]["totalTokens"], 120);
    assert_eq!(messages.pop().unwrap().1["stopReason"], "tool_use");

    let names = async |fault: Fault| {
        let reply = Reply::text("x").with_fault(fault);
        let messages = ask_api(Api::Bedrock, reply, true).await.messages();
        messages.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
    };
    assert!(!names(Fault::MissingFinish).await.contains(&"messageStop".to_owned()));
    assert!(!names(Fault::MissingDone).await.contains(&"metadata".to_owned()));
}

#[tokio::test]
async fn omits_the_end_of_a_stream_in_every_api() {
    for (api, finish, done) in [
        (Api::OpenAiChat, "\"finish_reason\":\"stop\"", "[DONE]"),
        (Api::OpenAiResponses, "response.completed", "response.completed"),
        (Api::Anthropic, "\"stop_reason\":\"end_turn\"", "message_stop"),
        (Api::Ollama, "\"done\":true", "\"done\":true"),
        (Api::Gemini, "\"finishReason\":\"STOP\"", "\"finishReason\":\"STOP\""),
    ] {
        let text = async |fault: Option<Fault>| {
            let reply = fault.into_iter().fold(Reply::text("x"), Reply::with_fault);
            ask_api(api, reply, true).await.text()
        };
        let intact = text(None).await;
        assert!(intact.contains(finish) && intact.contains(done), "{api:?}");
        assert!(!text(Some(Fault::MissingFinish)).await.contains(finish), "{api:?}");
        let has_marker = done != finish;
        assert_eq!(
            text(Some(Fault::MissingDone)).await.contains(done),
            !has_marker,
            "{api:?}"
        );
    }
}

#[tokio::test]
async fn renders_the_finish_reasons_of_each_api() {
    for (finish, anthropic, ollama, gemini) in [
        (Finish::Stop, "end_turn", "stop", "STOP"),
        (Finish::Length, "max_tokens", "length", "MAX_TOKENS"),
        (Finish::ToolCalls, "tool_use", "stop", "STOP"),
        (Finish::ContentFilter, "refusal", "stop", "SAFETY"),
        (Finish::Refusal, "refusal", "stop", "STOP"),
        (
            Finish::Other("pause_turn".into()),
            "pause_turn",
            "pause_turn",
            "pause_turn",
        ),
    ] {
        let answer = Answer::new().with_text("x").with_finish(finish);
        assert_eq!(whole(Api::Anthropic, answer.clone()).await["stop_reason"], anthropic);
        assert_eq!(whole(Api::Ollama, answer.clone()).await["done_reason"], ollama);
        assert_eq!(
            whole(Api::Gemini, answer).await["candidates"][0]["finishReason"],
            gemini
        );
    }
}
