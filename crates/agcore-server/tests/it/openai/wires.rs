//! Our own clients of both APIs against our own server: nothing is lost on the way.

use agcore_chat::{ChatRequest, ChatResponse, Message, Tool, ToolDefinition};
use agcore_llm::{Call, LlmErrorKind, LlmProvider, LlmProviderExt, ProviderConfig};
use agcore_testkit::scripted::{ScriptStep, ScriptedProvider};
use serde_json::{Value, json};
use std::sync::Arc;

use crate::support::{Running, builder, store};

const TYPES: [&str; 2] = ["compatible", "openai-responses"];

fn client(server: &Running, kind: &str, model: &str) -> Arc<dyn LlmProvider> {
    let config = ProviderConfig::parse(&format!("{kind}:{model}")).unwrap();
    let config = config.with_base_url(format!("http://{}/v1", server.address));
    config.with_api_key("none").build().unwrap()
}

/// Returns a reply of the model of the agent.
fn reply(message: Value, finish: &str) -> ChatResponse {
    let response = json!({
        "choices": [{"message": message, "finish_reason": finish}],
        "usage": {
            "prompt_tokens": 30, "completion_tokens": 12, "total_tokens": 42,
            "prompt_tokens_details": {"cached_tokens": 10}, "completion_tokens_details": {"reasoning_tokens": 7},
        },
    });
    serde_json::from_value(response).unwrap()
}

fn map_tool() -> Tool {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    ToolDefinition::new("show_map", "Shows a map.", schema).into()
}

/// Returns what must not change on the way.
fn seen(response: &ChatResponse) -> Value {
    let message = response.message().unwrap();
    let calls: Vec<Value> = message
        .tool_calls()
        .map(|call| json!([call.name, call.raw_input()]))
        .collect();
    let usage = response.usage.as_ref().unwrap();
    json!({
        "text": message.text(),
        "reasoning": message.reasoning(),
        "refusal": message.refusal_text(),
        "calls": calls,
        "finish": response.finish_reason(),
        "usage": [usage.prompt_tokens, usage.completion_tokens, usage.total(), usage.cached(), usage.reasoning()],
    })
}

/// Sends a request by each client, as a whole and as a stream, and compares what arrives with the reply of the model.
async fn check(message: Value, finish: &str, tools: Vec<Tool>) {
    for kind in TYPES {
        for is_streamed in [false, true] {
            let sent = reply(message.clone(), finish);
            let provider = ScriptedProvider::new([ScriptStep::response(sent.clone())]);
            let server = Running::start(builder(&provider, &store())).await;
            let model = client(&server, kind, "ada");
            let mut request = ChatRequest::new([Message::user("Hello")]);
            request.tools = tools.clone().into_iter().collect();
            let received = model.chat_call(Call::new(request).with_stream(is_streamed)).await;
            let received = received.unwrap_or_else(|error| panic!("{kind} {is_streamed}: {error:?}"));
            let [mut received, mut sent] = [&received, &sent].map(seen);
            if !sent["refusal"].is_null() {
                // Responses have no reason for this, so that our client has one of its own.
                received["finish"] = Value::Null;
                sent["finish"] = Value::Null;
            }
            assert_eq!(received, sent, "{kind} {is_streamed}");
            server.stop().await;
        }
    }
}

#[tokio::test]
async fn texts_reasoning_and_usage_are_kept() {
    let message =
        json!({"role": "assistant", "content": "Ünïcödé 😀\n\n", "reasoning_content": "Let me think.\nDone."});
    check(message, "stop", Vec::new()).await;
}

#[tokio::test]
async fn calls_are_kept() {
    let call = |id: &str, city: &str| {
        let arguments = json!({"city": city}).to_string();
        json!({"id": id, "type": "function", "function": {"name": "show_map", "arguments": arguments}})
    };
    let message = json!({
        "role": "assistant", "content": "Let me look.", "tool_calls": [call("c1", "Rome"), call("c2", "Zürich \"1\"")],
    });
    check(message, "tool_calls", vec![map_tool()]).await;
}

#[tokio::test]
async fn the_reason_of_an_incomplete_text_is_kept() {
    for finish in ["length", "content_filter"] {
        check(
            json!({"role": "assistant", "content": "Once upon a"}),
            finish,
            Vec::new(),
        )
        .await;
    }
}

#[tokio::test]
async fn refusals_are_kept() {
    check(
        json!({"role": "assistant", "content": null, "refusal": "I will not."}),
        "stop",
        Vec::new(),
    )
    .await;
}

#[tokio::test]
async fn errors_have_their_kind() {
    let server = Running::start(builder(&ScriptedProvider::new([]), &store())).await;
    for kind in TYPES {
        let request = ChatRequest::new([Message::user("Hello")]);
        let error = client(&server, kind, "none").chat(request).await.unwrap_err();
        assert_eq!(error.kind(), LlmErrorKind::NotFound, "{error:?}");
    }
    server.stop().await;
}
