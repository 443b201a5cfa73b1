//! Messages and replies in the format of the conventions: a role and parts.
//!
//! See <https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#recording-content-on-attributes>.

use agcore_chat::{AssistantMessage, Block, ChatRequest, ChatResponse, Message};
use serde_json::{Value, json};
use tracing::Span;

pub(super) fn record_request(span: &Span, request: &ChatRequest) {
    let messages: Vec<Value> = request.messages.iter().map(|message| input(message)).collect();
    span.record("gen_ai.input.messages", Value::from(messages).to_string());
}

pub(super) fn record_reply(span: &Span, response: &ChatResponse) {
    let choice = |choice: &agcore_chat::Choice| {
        let mut message = with_parts("assistant", assistant(&choice.message));
        if let Some(reason) = &choice.finish_reason {
            message["finish_reason"] = reason.as_str().into();
        }
        message
    };
    let messages: Vec<Value> = response.choices.iter().map(choice).collect();
    span.record("gen_ai.output.messages", Value::from(messages).to_string());
}

fn input(message: &Message) -> Value {
    let parts = match message {
        Message::Assistant(message) => assistant(message),
        Message::Tool(result) => vec![json!({
            "type": "tool_call_response", "id": result.tool_call_id, "response": message.text(),
        })],
        _ => vec![text(&message.text())],
    };
    with_parts(&message.role().to_string(), parts)
}

fn with_parts(role: &str, parts: Vec<Value>) -> Value {
    json!({"role": role, "parts": parts})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "content": text})
}

fn assistant(message: &AssistantMessage) -> Vec<Value> {
    let part = |block: &Block| match block {
        Block::Text(block) => Some(text(&block.text)),
        Block::Refusal(part) => Some(text(&part.refusal)),
        Block::Reasoning(block) if block.text.is_empty() => None,
        Block::Reasoning(block) => Some(json!({"type": "reasoning", "content": block.text})),
        Block::Call(call) => Some(json!({
            "type": "tool_call", "id": call.id, "name": call.name,
            "arguments": call.arguments().cloned().map_or_else(|_| call.raw_input().into(), Value::from),
        })),
        _ => None,
    };
    message.blocks.iter().filter_map(part).collect()
}
