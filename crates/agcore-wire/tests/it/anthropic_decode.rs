//! Replies of the Anthropic Messages API, and of other servers that implement it.

use std::time::Duration;

use agcore_chat::{AssistantMessage, Block, ChatRequest, ChatResponse, FinishReason, Message};
use agcore_wire::{
    Chat, Close, EncodeOptions, Fold, LlmError, LlmErrorKind, Operation, ReplyDelta, ReplyHead, Wire,
    anthropic::Anthropic, deltas_from_response, operation::ListModels,
};
use http::{HeaderValue, StatusCode};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sse::split;

fn head(status: u16, headers: &[(&'static str, &'static str)]) -> ReplyHead {
    let mut head = ReplyHead {
        status: StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    for (name, value) in headers {
        head.headers.insert(*name, HeaderValue::from_static(value));
    }
    head
}

fn decode<O: Operation>(head: &ReplyHead, reads: &[&[u8]], close: Close) -> (Vec<O::Item>, Result<(), LlmError>)
where
    Anthropic: Wire<O>,
{
    let (mut decoder, mut items) = (Wire::<O>::decoder(&Anthropic::new(), head), Vec::new());
    for read in reads {
        if let Err(error) = decoder.feed(read, &mut items) {
            return (items, Err(error));
        }
        if decoder.is_done() {
            break;
        }
    }
    let end = decoder.finish(close, &mut items);
    (items, end)
}

fn folded(deltas: &[ReplyDelta]) -> ChatResponse {
    let mut fold = Fold::new();
    deltas.iter().for_each(|delta| {
        fold.push(delta);
    });
    fold.response()
}

/// Returns a stream of these events, each with its name.
fn stream(events: &[Value]) -> String {
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(event).collect()
}

fn read(body: &str) -> (ChatResponse, Result<(), LlmError>) {
    let (deltas, end) = decode::<Chat>(&head(200, &[]), &[body.as_bytes()], Close::Clean);
    (folded(&deltas), end)
}

fn response(events: &[Value]) -> ChatResponse {
    let (response, end) = read(&stream(events));
    end.unwrap();
    response
}

fn message(response: &ChatResponse) -> &AssistantMessage {
    &response.choices[0].message
}

fn start() -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude-x", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": 10, "output_tokens": 1, "service_tier": "standard"}}})
}

fn open(index: u32, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u32, kind: &str, member: &str, value: impl Into<Value>) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": {"type": kind, member: value.into()}})
}

fn text(index: u32, text: &str) -> Value {
    delta(index, "text_delta", "text", text)
}

fn arguments(index: u32, piece: &str) -> Value {
    delta(index, "input_json_delta", "partial_json", piece)
}

fn close(index: u32) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn end(reason: &str) -> [Value; 2] {
    [
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null},
               "usage": {"output_tokens": 7}}),
        json!({"type": "message_stop"}),
    ]
}

fn hello() -> Vec<Value> {
    let events = [
        start(),
        open(0, json!({"type": "text", "text": ""})),
        text(0, "Hel"),
        text(0, "lo"),
        close(0),
    ];
    events.into_iter().chain(end("end_turn")).collect()
}

/// A reply with every kind of block.
fn rich() -> Vec<Value> {
    let blocks = [
        start(),
        open(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, "thinking_delta", "thinking", "Hm, "),
        delta(0, "thinking_delta", "thinking", "é🦀."),
        delta(0, "signature_delta", "signature", "SIG"),
        close(0),
        open(1, json!({"type": "redacted_thinking", "data": "ENC"})),
        close(1),
        open(
            2,
            json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}),
        ),
        arguments(2, ""),
        arguments(2, "{\"query\": "),
        arguments(2, "\"x\"}"),
        close(2),
        open(
            3,
            json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
                       "content": [{"type": "web_search_result", "encrypted_content": "E"}]}),
        ),
        close(3),
        open(4, json!({"type": "text", "text": "", "citations": []})),
        text(4, "Cited."),
        delta(4, "citations_delta", "citation", json!({"cited_text": "x"})),
        close(4),
        open(
            5,
            json!({"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}, "caller": {"type": "direct"}}),
        ),
        arguments(5, ""),
        arguments(5, "{\"a\": 1"),
        arguments(5, ".50}"),
        close(5),
    ];
    blocks.into_iter().chain(end("tool_use")).collect()
}

/// Returns the same reply in one body.
fn rich_whole() -> String {
    r#"{"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-x", "content": [
        {"type": "thinking", "thinking": "Hm, é🦀.", "signature": "SIG"},
        {"type": "redacted_thinking", "data": "ENC"},
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1",
         "content": [{"type": "web_search_result", "encrypted_content": "E"}]},
        {"type": "text", "text": "Cited.", "citations": [{"cited_text": "x"}]},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1.50}, "caller": {"type": "direct"}}
    ], "stop_reason": "tool_use", "stop_sequence": null,
    "usage": {"input_tokens": 10, "output_tokens": 7, "service_tier": "standard"}}"#
        .to_owned()
}

#[test]
fn decodes_a_plain_answer() {
    let response = response(&hello());
    assert_eq!(response.text(), "Hello");
    assert_eq!(
        (response.id.as_deref(), response.model.as_deref()),
        (Some("msg_1"), Some("claude-x"))
    );
    assert_eq!(response.service_tier.as_deref(), Some("standard"));
    assert_eq!(response.finish_reason(), Some(&FinishReason::Stop));
    assert_eq!(
        response.choices[0].extra.get("native_finish_reason"),
        Some(&json!("end_turn"))
    );
    let usage = response.usage.unwrap();
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(10), Some(7)));
    assert_eq!(
        (usage.cached(), usage.cache_write(), usage.reasoning()),
        (None, None, None)
    );
}

#[test]
fn streams_and_whole_replies_decode_alike() {
    let streamed = response(&rich());
    let (whole, end) = read(&rich_whole());
    end.unwrap();
    assert_eq!(streamed.choices, whole.choices);
    assert_eq!(
        (&streamed.id, &streamed.model, &streamed.usage),
        (&whole.id, &whole.model, &whole.usage)
    );
    assert_eq!(message(&whole).blocks.len(), 6);
    assert_eq!(message(&whole).reasoning(), "Hm, é🦀.");
    let call = message(&whole).tool_calls().next().unwrap();
    assert_eq!((call.id.as_str(), call.raw_input()), ("toolu_1", "{\"a\": 1.50}"));
}

#[test]
fn sends_replies_back_unchanged() {
    for reply in [response(&rich()), read(&rich_whole()).0] {
        // As JSON, as a store keeps it.
        let stored = serde_json::to_string(&Message::from(message(&reply).clone())).unwrap();
        let stored: Message = serde_json::from_str(&stored).unwrap();
        let request = ChatRequest::new([Message::user("Hi"), stored, Message::tool("toolu_1", "ok")]);
        let wire = Wire::<Chat>::encode(&Anthropic::new(), &request, &EncodeOptions::new("m")).unwrap();
        let body: Value = serde_json::from_slice(&wire.body).unwrap();
        let expected: Value = serde_json::from_str(&rich_whole()).unwrap();
        assert_eq!(body["messages"][1]["content"], expected["content"]);
        let text = std::str::from_utf8(&wire.body).unwrap();
        assert!(text.contains(r#""input":{"a": 1.50}"#), "{text}");
    }
}

#[test]
fn assembles_calls_from_pieces() {
    let two = [
        start(),
        open(0, json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
        arguments(0, ""),
        close(0),
        open(1, json!({"type": "tool_use", "id": "b", "name": "g", "input": {}})),
        arguments(1, "{\"x\""),
        arguments(1, ":1}"),
        close(1),
    ];
    let response = response(&two.into_iter().chain(end("end_turn")).collect::<Vec<_>>());
    let calls: Vec<_> = message(&response).tool_calls().collect();
    assert_eq!(calls.len(), 2);
    assert!(calls[0].arguments().unwrap().is_empty());
    assert_eq!(calls[1].raw_input(), "{\"x\":1}");
    assert_eq!(
        response.finish_reason(),
        Some(&FinishReason::ToolCalls),
        "calls override the stop reason"
    );
}

#[test]
fn pieces_replace_the_arguments_of_the_start() {
    let start_with_input = || {
        vec![
            start(),
            open(
                0,
                json!({"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}),
            ),
        ]
    };
    let input = |events: Vec<Value>| {
        let response = response(&events.into_iter().chain(end("tool_use")).collect::<Vec<_>>());
        message(&response).tool_calls().next().unwrap().raw_input().to_owned()
    };
    assert_eq!(input(start_with_input()), r#"{"x":1}"#);
    let mut more = start_with_input();
    more.extend([arguments(0, "{\"x\":"), arguments(0, "2}")]);
    assert_eq!(input(more), "{\"x\":2}");
}

#[test]
fn keeps_truncated_arguments() {
    let cut = [
        start(),
        open(0, json!({"type": "tool_use", "id": "a", "name": "f", "input": {}})),
        arguments(0, "{\"city\": \"Par"),
        close(0),
    ];
    let response = response(&cut.into_iter().chain(end("max_tokens")).collect::<Vec<_>>());
    assert_eq!(response.finish_reason(), Some(&FinishReason::Length));
    let call = message(&response).tool_calls().next().unwrap();
    assert_eq!(call.raw_input(), "{\"city\": \"Par");
    assert!(call.arguments().is_err());
}

#[test]
fn maps_every_stop_reason() {
    let check = |word: &str, expected: FinishReason| {
        let events: Vec<Value> = std::iter::once(start()).chain(end(word)).collect();
        assert_eq!(response(&events).finish_reason(), Some(&expected), "{word}");
        let whole = json!({"type": "message", "content": [], "stop_reason": word}).to_string();
        assert_eq!(read(&whole).0.finish_reason(), Some(&expected), "{word}");
    };
    check("end_turn", FinishReason::Stop);
    check("stop_sequence", FinishReason::Stop);
    check("max_tokens", FinishReason::Length);
    check("model_context_window_exceeded", FinishReason::Length);
    check("tool_use", FinishReason::ToolCalls);
    check("refusal", FinishReason::Refusal);
    check("pause_turn", FinishReason::Other("pause_turn".into()));
    check("tired", FinishReason::Other("tired".into()));
}

#[test]
fn decodes_the_explanation_of_a_refusal() {
    let details = json!({"type": "refusal", "category": "cyber", "explanation": "It was blocked."});
    let whole = json!({"type": "message", "content": [], "stop_reason": "refusal", "stop_details": details});
    let streamed = [
        start(),
        json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}),
    ];
    for reply in [read(&whole.to_string()).0, response(&streamed)] {
        assert_eq!(message(&reply).refusal_text(), Some("It was blocked."));
        assert_eq!(message(&reply).text(), "");
        assert_eq!(reply.finish_reason(), Some(&FinishReason::Refusal));
        assert_eq!(reply.choices[0].extra.get("stop_details"), Some(&details));
    }
}

#[test]
fn an_empty_signature_is_sent_back_unless_the_reply_was_interrupted() {
    let thinking = json!({"type": "thinking", "thinking": "Hm.", "signature": ""});
    let text = json!({"type": "text", "text": "Yes."});
    let whole = json!({"type": "message", "content": [thinking, text], "stop_reason": "end_turn"});
    let block = |index: u32, start: &Value| {
        [
            json!({"type": "content_block_start", "index": index, "content_block": start}),
            json!({"type": "content_block_stop", "index": index}),
        ]
    };
    let blocks = block(0, &thinking).into_iter().chain(block(1, &text));
    let events: Vec<Value> = std::iter::once(start()).chain(blocks).chain(end("end_turn")).collect();
    let sent = |reply: &ChatResponse| {
        let request = ChatRequest::new([
            Message::user("Hi"),
            message(reply).clone().into(),
            Message::user("Sure?"),
        ]);
        let encoded = Wire::<Chat>::encode(&Anthropic::new(), &request, &EncodeOptions::new("m")).unwrap();
        serde_json::from_slice::<Value>(&encoded.body).unwrap()["messages"][1]["content"][0].clone()
    };
    for reply in [read(&whole.to_string()).0, response(&events)] {
        assert_eq!(sent(&reply), thinking);
    }

    let cut = [start(), events[1].clone()];
    let (deltas, error) = decode::<Chat>(&head(200, &[]), &[stream(&cut).as_bytes()], Close::Clean);
    assert!(error.is_err());
    let mut partial = folded(&deltas);
    partial.choices[0].message.blocks.push(Block::text("Yes."));
    assert_eq!(sent(&partial)["text"], "Yes.", "the signature may not have arrived yet");
}

#[test]
fn usage_is_what_is_billed_and_the_context_is_that_of_the_last_step() {
    let usage = json!({"input_tokens": 220, "output_tokens": 8, "cache_read_input_tokens": 30, "iterations": [
        {"type": "compaction", "input_tokens": 55_196, "output_tokens": 125, "cache_creation_input_tokens": 7},
        {"type": "message", "input_tokens": 220, "output_tokens": 8, "cache_read_input_tokens": 30},
    ]});
    let whole = json!({"type": "message", "content": [], "stop_reason": "end_turn", "usage": usage});
    let streamed = [
        start(),
        json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
    ];
    for reply in [read(&whole.to_string()).0, response(&streamed)] {
        let read = reply.usage.unwrap();
        assert_eq!((read.prompt_tokens, read.completion_tokens), (Some(55_453), Some(133)));
        assert_eq!((read.cached(), read.cache_write()), (Some(30), Some(7)));
        assert_eq!(read.context(), Some(250));
        assert_eq!(read.extra.get("iterations"), Some(&usage["iterations"]));
    }

    let advised = json!({"input_tokens": 412, "output_tokens": 531, "iterations": [
        {"type": "message", "input_tokens": 412, "output_tokens": 89},
        {"type": "advisor_message", "model": "m", "input_tokens": 823, "output_tokens": 1612},
        {"type": "message", "input_tokens": 1348, "cache_read_input_tokens": 412, "output_tokens": 442},
    ]});
    let whole = json!({"type": "message", "content": [], "stop_reason": "end_turn", "usage": advised});
    let usage = read(&whole.to_string()).0.usage.unwrap();
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(2995), Some(2143)));
    assert_eq!(usage.context(), Some(1760));

    let refused = json!({"input_tokens": 412, "output_tokens": 9, "iterations": [
        {"type": "message", "input_tokens": 408, "output_tokens": 2},
        {"type": "fallback_message", "model": "m", "input_tokens": 412, "output_tokens": 9},
    ]});
    let whole = json!({"type": "message", "content": [], "stop_reason": "end_turn", "usage": refused});
    let usage = read(&whole.to_string()).0.usage.unwrap();
    assert_eq!((usage.prompt_tokens, usage.context()), (Some(820), Some(412)));
}

#[test]
fn keeps_other_members_of_the_reply() {
    let events = [
        start(),
        json!({"type": "message_delta", "context_management": {"applied_edits": []},
               "delta": {"stop_reason": "stop_sequence", "stop_sequence": "END", "container": {"id": "c"}},
               "usage": {"output_tokens": 3, "server_tool_use": {"web_search_requests": 1}}}),
    ];
    let response = response(&events);
    let extra = &response.choices[0].extra;
    assert_eq!(extra.get("stop_sequence"), Some(&json!("END")));
    assert_eq!(extra.get("container"), Some(&json!({"id": "c"})));
    assert_eq!(extra.get("context_management"), Some(&json!({"applied_edits": []})));
    let usage = response.usage.unwrap();
    assert_eq!(
        usage.extra.get("server_tool_use"),
        Some(&json!({"web_search_requests": 1}))
    );
}

#[test]
fn later_counts_replace_earlier_ones() {
    let usage = |first: Value, last: Value| {
        let mut begin = start();
        begin["message"]["usage"] = first;
        let mut last_event = end("end_turn")[0].clone();
        last_event["usage"] = last;
        response(&[begin, last_event]).usage
    };
    let counted = usage(
        json!({"input_tokens": 43, "output_tokens": 1}),
        json!({"input_tokens": 61, "output_tokens": 2}),
    );
    let counted = counted.unwrap();
    assert_eq!((counted.prompt_tokens, counted.completion_tokens), (Some(61), Some(2)));
    let cached = usage(
        json!({"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20,
               "output_tokens": 1}),
        json!({"output_tokens": 9, "output_tokens_details": {"thinking_tokens": 4}}),
    );
    let cached = cached.unwrap();
    assert_eq!((cached.prompt_tokens, cached.completion_tokens), (Some(125), Some(9)));
    assert_eq!(
        (cached.cached(), cached.cache_write(), cached.reasoning()),
        (Some(100), Some(20), Some(4))
    );
    let unknown = usage(json!(null), json!({"output_tokens": 3, "input_tokens": null})).unwrap();
    assert_eq!((unknown.prompt_tokens, unknown.completion_tokens), (None, Some(3)));
    assert_eq!(usage(json!({}), json!(null)), None);
    let huge = usage(
        json!({"input_tokens": u64::MAX, "cache_read_input_tokens": 1}),
        json!({"output_tokens": -1}),
    );
    assert_eq!(huge.unwrap().prompt_tokens, Some(u64::MAX));
}

#[test]
fn skips_unknown_events_and_deltas() {
    let mut events = hello();
    events.insert(0, json!({"type": "ping"}));
    events.insert(3, json!({"type": "ping"}));
    events.insert(
        4,
        json!({"type": "telemetry", "delta": 5, "message": "odd", "index": "x", "usage": []}),
    );
    events.insert(4, delta(0, "sparkle_delta", "sparkle", 1));
    events.insert(4, json!({"type": "content_block_delta", "index": 0, "delta": null}));
    events.insert(4, close(9));
    assert_eq!(response(&events).text(), "Hello");
    let body = format!(
        ": comment\n\ndata:\n\nevent: ping\ndata: {{}}\n\ndata: : x\n\n{}",
        stream(&hello())
    );
    let (response, end) = read(&body);
    end.unwrap();
    assert_eq!(response.text(), "Hello");
}

#[test]
fn keeps_unknown_blocks() {
    let events = [
        start(),
        open(0, json!({"type": "compaction", "content": null})),
        delta(0, "compaction_delta", "content", "Sum"),
        delta(0, "compaction_delta", "content", "med."),
        close(0),
        open(
            1,
            json!({"type": "mcp_tool_use", "id": "m", "name": "f", "server_name": "s", "input": {}}),
        ),
        arguments(1, "{\"cut"),
    ];
    let response = response(&events.into_iter().chain(end("end_turn")).collect::<Vec<_>>());
    let items: Vec<&Value> = message(&response)
        .blocks
        .iter()
        .map(|block| match block {
            Block::Hosted(item) => &item.data,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(*items[0], json!({"type": "compaction", "content": "Summed."}));
    assert_eq!(items[1]["input"], json!({"invalid_json": "{\"cut"}));
}

#[test]
fn accepts_missing_names_and_types() {
    let bare: String = hello().iter().map(|event| format!("data: {event}\n\n")).collect();
    let (response, end) = read(&bare);
    end.unwrap();
    assert_eq!(response.text(), "Hello");
    let untyped: String = hello()
        .into_iter()
        .map(|mut event| {
            let name = event.as_object_mut().unwrap().remove("type").unwrap();
            format!("event: {}\ndata: {event}\n\n", name.as_str().unwrap())
        })
        .collect();
    let (response, end) = read(&untyped);
    end.unwrap();
    assert_eq!(response.text(), "Hello");
}

#[test]
fn accepts_overlapping_blocks() {
    let events = [
        start(),
        open(0, json!({"type": "thinking", "thinking": ""})),
        delta(0, "thinking_delta", "thinking", "Hm."),
        open(1, json!({"type": "text", "text": ""})),
        text(1, "Yes"),
        open(2, json!({"type": "tool_use", "id": "x", "name": "f"})),
        arguments(2, "{\"a\""),
        arguments(2, ":1}"),
        delta(0, "signature_delta", "signature", ""),
        close(0),
        close(1),
        close(2),
    ];
    let response = response(&events.into_iter().chain(end("tool_use")).collect::<Vec<_>>());
    let [Block::Reasoning(thought), Block::Text(text), Block::Call(call)] = &message(&response).blocks[..] else {
        panic!("{:?}", message(&response).blocks)
    };
    assert_eq!((thought.text.as_str(), text.text.as_str()), ("Hm.", "Yes"));
    assert_eq!(thought.vendor.as_ref().unwrap().vendor, "anthropic");
    assert_eq!(call.raw_input(), "{\"a\":1}");
}

#[test]
fn keeps_late_signatures() {
    let events = [
        start(),
        open(0, json!({"type": "thinking", "thinking": ""})),
        delta(0, "thinking_delta", "thinking", "Hm."),
        open(1, json!({"type": "text", "text": "Yes"})),
        delta(0, "signature_delta", "signature", "LATE"),
    ];
    let response = response(&events.into_iter().chain(end("end_turn")).collect::<Vec<_>>());
    let kept = message(&response).blocks.iter().any(
        |block| matches!(block, Block::Reasoning(thought) if thought.vendor.as_ref().unwrap().data == json!({"signature": "LATE"})),
    );
    assert!(kept, "{:?}", message(&response).blocks);
}

#[test]
fn ignores_a_repeated_start_and_restarts_on_another_message() {
    let mut events = hello();
    events.insert(3, start());
    assert_eq!(response(&events).text(), "Hello");
    let mut other = start();
    other["message"]["id"] = json!("msg_2");
    events[3] = other.clone();
    let restarted = response(&events);
    assert_eq!((restarted.id.as_deref(), &*restarted.text()), (Some("msg_2"), "lo"));
    // After the end of the first message, another one is ignored.
    let mut events = hello();
    events.pop();
    events.push(other);
    events.push(text(0, "no"));
    assert_eq!(response(&events).text(), "Hello");
}

#[test]
fn accepts_content_in_the_start() {
    let mut begin = start();
    begin["message"]["content"] = json!([
        {"type": "code_execution_tool_result", "tool_use_id": "s"},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"id": 1}},
    ]);
    begin["message"]["stop_reason"] = json!("tool_use");
    let response = response(&[begin, json!({"type": "message_stop"})]);
    assert_eq!(response.finish_reason(), Some(&FinishReason::ToolCalls));
    assert_eq!(
        message(&response).tool_calls().next().unwrap().raw_input(),
        r#"{"id":1}"#
    );
}

#[test]
fn accepts_a_stream_without_a_start() {
    let response = response(&[text(0, "Hel"), text(0, "lo"), json!({"type": "message_stop"})]);
    assert_eq!(response.text(), "Hello");
    assert_eq!(response.finish_reason(), Some(&FinishReason::Other("".into())));
}

#[test]
fn is_complete_with_a_stop_reason_or_an_end_marker() {
    let all = hello();
    let (without_stop, cut) = (&all[..all.len() - 1], &all[..all.len() - 2]);
    assert_eq!(response(without_stop).finish_reason(), Some(&FinishReason::Stop));
    let mut without_reason = cut.to_vec();
    without_reason.push(json!({"type": "message_stop"}));
    assert_eq!(
        response(&without_reason).finish_reason(),
        Some(&FinishReason::Other("".into()))
    );
    let done = format!("{}data: [DONE]\n\n", stream(cut));
    assert!(read(&done).1.is_ok());
    let (partial, end) = read(&stream(cut));
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Truncated);
    assert_eq!(partial.text(), "Hello");
    let body = stream(cut);
    let (_, end) = decode::<Chat>(&head(200, &[]), &[body.as_bytes()], Close::Reset);
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Connect);
    // A stream can end within an event, and its last event needs no blank line.
    let (_, end) = read(&body[..body.len() - 10]);
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Truncated);
    let whole = stream(&all);
    assert!(read(whole.trim_end()).1.is_ok());
    let empty = head(200, &[("content-type", "text/event-stream")]);
    for start in [&b""[..], b"dat", b"eve"] {
        let (_, end) = decode::<Chat>(&empty, &[start], Close::Clean);
        assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Truncated);
    }
}

#[test]
fn is_done_at_the_end_of_the_message() {
    let (mut decoder, mut deltas) = (Wire::<Chat>::decoder(&Anthropic::new(), &head(200, &[])), Vec::new());
    let all = hello();
    decoder
        .feed(stream(&all[..all.len() - 1]).as_bytes(), &mut deltas)
        .unwrap();
    assert!(!decoder.is_done());
    decoder
        .feed(stream(&all[all.len() - 1..]).as_bytes(), &mut deltas)
        .unwrap();
    assert!(decoder.is_done());
    let before = deltas.len();
    decoder
        .feed(stream(&[json!({"type": "error"})]).as_bytes(), &mut deltas)
        .unwrap();
    decoder.finish(Close::Reset, &mut deltas).unwrap();
    assert_eq!(deltas.len(), before);
}

#[test]
fn errors_in_a_stream_keep_the_partial_reply() {
    let beginning = &hello()[..4];
    let check = |event: &str, expected: LlmErrorKind| {
        let (partial, end) = read(&format!("{}{event}\n\n", stream(beginning)));
        let error = end.unwrap_err();
        assert_eq!(error.kind(), expected, "{event}");
        assert_eq!(partial.text(), "Hello");
        error
    };
    let overloaded =
        r#"{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "req_1"}"#;
    let error = check(&format!("event: error\ndata: {overloaded}"), LlmErrorKind::Overloaded);
    assert!(error.is_retryable());
    assert_eq!(error.request_id(), Some("req_1"));
    check(&format!("data: {overloaded}"), LlmErrorKind::Overloaded);
    check(
        r#"data: {"error": {"message": "slow down", "type": "rate_limit_error"}}"#,
        LlmErrorKind::RateLimit,
    );
    check(
        r#"data: {"message": "Internal", "code": "server_error"}"#,
        LlmErrorKind::Server,
    );
    check(
        r#"data: [{"error": {"code": 429, "message": "slow down"}}]"#,
        LlmErrorKind::RateLimit,
    );
    check("event: error\ndata: upstream went away", LlmErrorKind::Unknown);
    check("data: {\"type\": \"content_block_delta\", ", LlmErrorKind::Malformed);
    check(r#"data: {"type": "ping"}{"type": "ping"}"#, LlmErrorKind::Malformed);
}

#[test]
fn reads_errors_of_any_form() {
    let check = |body: &str, expected: LlmErrorKind| {
        let error = read(body).1.unwrap_err();
        assert_eq!(error.kind(), expected, "{body}");
    };
    check(
        r#"{"type": "error", "error": {"type": "api_error", "message": "Internal server error"}}"#,
        LlmErrorKind::Server,
    );
    check(
        r#"{"error": {"code": 400, "message": "bad", "type": "invalid_request_error"}}"#,
        LlmErrorKind::InvalidRequest,
    );
    check(
        r#"{"message": "no such model", "code": "model_not_found"}"#,
        LlmErrorKind::NotFound,
    );
    check(r#"{"choices": []}"#, LlmErrorKind::Malformed);
    check("<html><title>Login</title></html>", LlmErrorKind::Malformed);
    check("", LlmErrorKind::Malformed);
    check(r#"{"type": "message", "content": [{"ty"#, LlmErrorKind::Malformed);
    check("[1]", LlmErrorKind::Malformed);
    let deep = format!("data: {{\"x\": {}\n\n", "[".repeat(1 << 20));
    check(&deep, LlmErrorKind::Malformed);
}

#[test]
fn classifies_errors() {
    let failed = |status: u16, headers: &[(&'static str, &'static str)], kind: &str, message: &str| {
        let body = json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_b"});
        let (_, end) = decode::<Chat>(&head(status, headers), &[body.to_string().as_bytes()], Close::Clean);
        end.unwrap_err()
    };
    let check = |status: u16, kind: &str, message: &str, expected: LlmErrorKind, retryable: bool| {
        let error = failed(status, &[("request-id", "req_h")], kind, message);
        assert_eq!(error.kind(), expected, "{status} {kind}");
        assert_eq!(error.is_retryable(), retryable, "{status} {kind}");
        assert_eq!((error.status(), error.request_id()), (Some(status), Some("req_h")));
    };
    let too_long = |limit, requested| LlmErrorKind::ContextLength { limit, requested };
    check(
        401,
        "authentication_error",
        "invalid x-api-key",
        LlmErrorKind::Authentication,
        false,
    );
    check(402, "billing_error", "Pay first.", LlmErrorKind::QuotaExhausted, false);
    check(403, "permission_error", "Not yours.", LlmErrorKind::Permission, false);
    check(404, "not_found_error", "model: x", LlmErrorKind::NotFound, false);
    check(413, "request_too_large", "Too large.", too_long(None, None), false);
    check(429, "rate_limit_error", "Slow down.", LlmErrorKind::RateLimit, true);
    check(
        429,
        "enforced_spend_limit_reached",
        "Spend limit.",
        LlmErrorKind::QuotaExhausted,
        false,
    );
    check(
        400,
        "invalid_request_error",
        "Your credit balance is too low to access the API.",
        LlmErrorKind::QuotaExhausted,
        false,
    );
    check(
        400,
        "invalid_request_error",
        "prompt is too long: 213462 tokens > 200000 maximum",
        too_long(Some(200_000), Some(213_462)),
        false,
    );
    check(
        400,
        "invalid_request_error",
        "top_k: odd",
        LlmErrorKind::InvalidRequest,
        false,
    );
    check(500, "api_error", "Internal.", LlmErrorKind::Server, true);
    check(529, "overloaded_error", "Overloaded", LlmErrorKind::Overloaded, true);
    let limits = [
        ("date", "Sat, 21 Nov 2026 10:00:00 GMT"),
        ("anthropic-ratelimit-requests-remaining", "7"),
        ("anthropic-ratelimit-requests-reset", "2026-11-21T11:00:00Z"),
        ("anthropic-ratelimit-input-tokens-remaining", "0"),
        ("anthropic-ratelimit-input-tokens-reset", "2026-11-21T10:00:30Z"),
    ];
    let error = failed(429, &limits, "rate_limit_error", "Slow down.");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(30)));
    assert_eq!(
        failed(529, &[], "overloaded_error", "Overloaded").request_id(),
        Some("req_b")
    );
}

#[test]
fn lists_models() {
    let list = |status: u16, body: &str| {
        let (models, end) = decode::<ListModels>(&head(status, &[]), &[body.as_bytes()], Close::Clean);
        end.map(|()| models)
    };
    let body = json!({"data": [
        {"type": "model", "id": "claude-a", "display_name": "Claude A", "created_at": "2025-02-19T00:00:00Z",
         "max_input_tokens": 200000, "max_tokens": 64000},
        {"type": "model", "id": "claude-b", "display_name": "Claude B", "created_at": "1970-01-01T00:00:00Z"},
    ], "has_more": true, "first_id": "claude-a", "last_id": "claude-b"});
    let models = list(200, &body.to_string()).unwrap();
    assert_eq!(
        (models[0].id.as_str(), models[0].name.as_deref()),
        ("claude-a", Some("Claude A"))
    );
    assert_eq!(
        (models[0].created, models[0].context_window),
        (Some(1_739_923_200), Some(200_000))
    );
    assert_eq!(models[0].extra.get("max_tokens"), Some(&json!(64000)));
    assert_eq!(models[0].extra.get("has_more"), None);
    assert_eq!((models[1].created, models[1].context_window), (None, None));
    assert_eq!(
        models[1].extra.get("has_more"),
        Some(&json!(true)),
        "the server has more models than it listed"
    );
    assert_eq!(list(401, "{}").unwrap_err().kind(), LlmErrorKind::Authentication);
    assert_eq!(list(200, "{}").unwrap_err().kind(), LlmErrorKind::Malformed);
    assert_eq!(list(200, "<html>").unwrap_err().kind(), LlmErrorKind::Malformed);
    let error = r#"{"type": "error", "error": {"type": "overloaded_error"}}"#;
    assert_eq!(list(200, error).unwrap_err().kind(), LlmErrorKind::Overloaded);
}

/// Returns the deltas, and the kind and message of the error.
fn outcome(reads: &[&[u8]], events: bool, close: Close) -> (Vec<ReplyDelta>, Option<(LlmErrorKind, String)>) {
    let content_type = if events {
        "text/event-stream"
    } else {
        "application/json"
    };
    let (deltas, end) = decode::<Chat>(&head(200, &[("content-type", content_type)]), reads, close);
    (
        deltas,
        end.err().map(|error| (error.kind(), error.message().to_owned())),
    )
}

/// Generates a reply with some bytes replaced, removed, inserted or truncated.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let bodies = vec![
        stream(&rich()).into_bytes(),
        rich_whole().into_bytes(),
        stream(&hello()).into_bytes(),
    ];
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    (prop::sample::select(bodies), prop::collection::vec(change, 0..6)).prop_map(|(mut body, changes)| {
        for (place, byte, how) in changes {
            let at = place.index(body.len().max(1)).min(body.len().saturating_sub(1));
            match how {
                _ if body.is_empty() => {}
                0 => body[at] = byte,
                1 => drop(body.remove(at)),
                2 => body.insert(at, byte),
                _ => body.truncate(at),
            }
        }
        body
    })
}

proptest! {
    #[test]
    fn decodes_any_bytes_alike_in_any_slicing(bytes: Vec<u8>, places: Vec<prop::sample::Index>, events: bool) {
        let whole = outcome(&[&bytes], events, Close::Clean);
        prop_assert_eq!(outcome(&split(&bytes, &places), events, Close::Clean), whole);
    }

    #[test]
    fn decodes_mutated_replies_alike_in_any_slicing(
        bytes in mutated(),
        places: Vec<prop::sample::Index>,
        events: bool,
        is_reset: bool,
    ) {
        let close = if is_reset { Close::Reset } else { Close::Clean };
        let whole = outcome(&[&bytes], events, close);
        prop_assert_eq!(&outcome(&split(&bytes, &places), events, close), &whole);
        let response = folded(&whole.0);
        prop_assert_eq!(folded(&deltas_from_response(response.clone())), response);
    }
}
