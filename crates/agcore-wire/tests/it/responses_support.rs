//! Helpers for the tests of the Responses API: decoding in several slicings, and building events.

use agcore_chat::ChatResponse;
use agcore_wire::{
    Chat, Close, Decoder, Fold, LlmError, ReplyDelta, ReplyHead, Wire, openai_responses::OpenAiResponses,
};
use http::{HeaderValue, StatusCode};
use serde_json::{Value, json};

pub(crate) const EVENTS: &str = "text/event-stream";
pub(crate) const JSON: &str = "application/json";

pub(crate) fn decoder(status: u16, content_type: &'static str) -> Box<dyn Decoder<Chat>> {
    let mut head = ReplyHead {
        status: StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    head.headers
        .insert("content-type", HeaderValue::from_static(content_type));
    Wire::<Chat>::decoder(&OpenAiResponses::new(), &head)
}

/// Returns the deltas of these reads, and the result at the end.
pub(crate) fn read(
    content_type: &'static str,
    reads: &[&[u8]],
    close: Close,
) -> (Vec<ReplyDelta>, Result<(), LlmError>) {
    let (mut decoder, mut deltas) = (decoder(200, content_type), Vec::new());
    for read in reads {
        if let Err(error) = decoder.feed(read, &mut deltas) {
            return (deltas, Err(error));
        }
        if decoder.is_done() {
            break;
        }
    }
    let end = decoder.finish(close, &mut deltas);
    (deltas, end)
}

pub(crate) fn folded(deltas: &[ReplyDelta]) -> ChatResponse {
    let mut fold = Fold::new();
    deltas.iter().for_each(|delta| {
        fold.push(delta);
    });
    fold.response()
}

/// Decodes a body, and checks that the result is the same at once, byte by byte, and in reads of seven bytes.
#[track_caller]
pub(crate) fn reply(content_type: &'static str, body: &str) -> (ChatResponse, Result<(), LlmError>) {
    let bytes = body.as_bytes();
    let (deltas, end) = read(content_type, &[bytes], Close::Clean);
    for size in [1, 7] {
        let reads: Vec<&[u8]> = bytes.chunks(size).collect();
        let (other, other_end) = read(content_type, &reads, Close::Clean);
        assert_eq!(other, deltas, "in reads of {size} bytes");
        let message = |end: &Result<(), LlmError>| end.as_ref().err().map(ToString::to_string);
        assert_eq!(message(&other_end), message(&end));
    }
    (folded(&deltas), end)
}

/// Returns a stream of these events, with their names as OpenAI sends them.
pub(crate) fn stream(events: &[Value]) -> String {
    let event = |event: &Value| {
        format!(
            "event: {}\ndata: {event}\n\n",
            event["type"].as_str().unwrap_or("message")
        )
    };
    events.iter().map(event).collect()
}

/// Decodes a stream of these events.
#[track_caller]
pub(crate) fn streamed(events: &[Value]) -> ChatResponse {
    let (response, end) = reply(EVENTS, &stream(events));
    end.unwrap();
    response
}

/// Decodes a whole reply.
#[track_caller]
pub(crate) fn whole(response: &Value) -> ChatResponse {
    let (response, end) = reply(JSON, &response.to_string());
    end.unwrap();
    response
}

pub(crate) fn completed(output: Value) -> Value {
    json!({"type": "response.completed", "response": {"id": "resp_1", "object": "response", "status": "completed",
           "output": output}})
}

/// Returns an event about an item, `added` or `done`.
pub(crate) fn item(stage: &str, index: u64, item: &Value) -> Value {
    json!({"type": format!("response.output_item.{stage}"), "output_index": index, "item": item})
}

/// Returns an event that refers to its item by the index.
pub(crate) fn event(kind: &str, index: u64, members: Value) -> Value {
    let mut event = json!({"type": format!("response.{kind}"), "output_index": index});
    event
        .as_object_mut()
        .unwrap()
        .extend(members.as_object().unwrap().clone());
    event
}

pub(crate) fn message(text: &str) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
           "content": [{"type": "output_text", "text": text, "annotations": []}]})
}

pub(crate) fn call(id: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": format!("call_{id}"), "name": "look",
           "arguments": arguments, "status": "completed"})
}

/// Returns the calls as `id name input`.
pub(crate) fn calls(response: &ChatResponse) -> Vec<String> {
    let line = |call: &agcore_chat::ToolCall| format!("{} {} {}", call.id, call.name, call.raw_input());
    response.tool_calls().map(line).collect()
}
