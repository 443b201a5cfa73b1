//! The decoder of the Chat Completions API beyond the wire cases: the data that the response keeps, when a reply ends, and that
//! arbitrary bytes never cause a panic and do not depend on how they are split into reads.

use std::{fs, path::Path};

use agcore_chat::{Block, ChatResponse, FinishReason};
use agcore_wire::{
    Chat, Close, Decoder, EncodeOptions, Fold, LlmError, LlmErrorKind, ReplyDelta, ReplyHead, Wire, dialect,
    openai_chat::OpenAiChat, operation::ListModels,
};
use http::{HeaderValue, StatusCode};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::sse::split;

fn head(status: u16, content_type: &'static str) -> ReplyHead {
    let mut head = ReplyHead {
        status: StatusCode::from_u16(status).unwrap(),
        ..ReplyHead::default()
    };
    head.headers
        .insert("content-type", HeaderValue::from_static(content_type));
    head
}

fn decoder(status: u16, content_type: &'static str) -> Box<dyn Decoder<Chat>> {
    Wire::<Chat>::decoder(&OpenAiChat::new(dialect::openrouter()), &head(status, content_type))
}

fn read(head_type: &'static str, reads: &[&[u8]], close: Close) -> (Vec<ReplyDelta>, Result<(), LlmError>) {
    let (mut decoder, mut deltas) = (decoder(200, head_type), Vec::new());
    for read in reads {
        if let Err(error) = decoder.feed(read, &mut deltas) {
            return (deltas, Err(error));
        }
    }
    let end = decoder.finish(close, &mut deltas);
    (deltas, end)
}

fn folded(deltas: &[ReplyDelta]) -> ChatResponse {
    let mut fold = Fold::new();
    deltas.iter().for_each(|delta| {
        fold.push(delta);
    });
    fold.response()
}

/// Returns a stream of these chunks.
fn stream(chunks: &[Value]) -> String {
    let events = chunks.iter().map(|chunk| format!("data: {chunk}\n\n"));
    events.chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn response(chunks: &[Value]) -> ChatResponse {
    let (deltas, end) = read("text/event-stream", &[stream(chunks).as_bytes()], Close::Clean);
    end.unwrap();
    folded(&deltas)
}

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

#[test]
fn ignores_usage_without_counts() {
    for empty in [json!(null), json!({}), json!({"cost": 1})] {
        let chunk =
            |text: &str, usage: &Value| json!({"choices": [{"index": 0, "delta": {"content": text}}], "usage": usage});
        let counts = json!({"total_tokens": 3});
        let response = response(&[
            chunk("Hel", &empty),
            chunk("lo", &empty),
            chunk("!", &counts),
            chunk("?", &empty),
        ]);
        assert_eq!(response.text(), "Hello!?", "{empty}");
        assert_eq!(response.usage.and_then(|usage| usage.total_tokens), Some(3), "{empty}");
    }
}

#[test]
fn keeps_the_members_of_the_reply() {
    let response = response(&[
        json!({"id": "", "model": "", "choices": [], "prompt_filter_results": [1]}),
        json!({"id": "c1", "model": "m", "created": 7, "system_fingerprint": "fp", "service_tier": "flex",
               "provider": "P", "obfuscation": "x", "object": "chat.completion.chunk",
               "choices": [{"index": 0, "delta": {"content": "Hi", "odd": 1}, "seed": 3}]}),
        json!({"id": "c2", "provider": "Q", "choices": [{"index": 0, "delta": {}, "finish_reason": "end_turn"}]}),
    ]);
    assert_eq!(
        (response.id.as_deref(), response.model.as_deref(), response.created),
        (Some("c1"), Some("m"), Some(7))
    );
    assert_eq!(response.system_fingerprint.as_deref(), Some("fp"));
    assert_eq!(response.service_tier.as_deref(), Some("flex"));
    assert_eq!(
        response.extra.get("provider"),
        Some(&json!("P")),
        "the first occurrence is kept"
    );
    assert_eq!(response.extra.get("prompt_filter_results"), Some(&json!([1])));
    assert_eq!(response.extra.get("obfuscation"), None);
    let choice = &response.choices[0];
    assert_eq!(choice.finish_reason, Some(FinishReason::Stop));
    assert_eq!(
        choice.extra.get("native_finish_reason"),
        Some(&json!("end_turn")),
        "the server's own reason is kept"
    );
    assert_eq!(choice.extra.get("seed"), Some(&json!(3)));
    assert_eq!(choice.message.extra.get("odd"), Some(&json!(1)));
}

#[test]
fn joins_pieces() {
    let piece =
        |token: &str| json!({"choices": [{"index": 0, "delta": {"content": token}, "logprobs": {"content": [token]}}]});
    let audio = |audio: Value| delta(json!({"audio": audio}));
    let response = response(&[
        piece("a"),
        piece("b"),
        audio(json!({"id": "au", "transcript": "Hel"})),
        audio(json!({"data": "AA", "transcript": "lo"})),
        audio(json!({"data": "BB", "expires_at": 9})),
        delta(json!({"annotations": [1]})),
        delta(json!({"annotations": [2]})),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
    ]);
    let choice = &response.choices[0];
    assert_eq!(choice.logprobs, Some(json!({"content": ["a", "b"]})));
    let expected = json!({"id": "au", "transcript": "Hello", "data": "AABB", "expires_at": 9});
    assert_eq!(choice.message.audio, Some(expected));
    assert_eq!(choice.message.annotations, Some(json!([1, 2])));
}

#[test]
fn keeps_vendor_data() {
    let detail = |detail: Value| delta(json!({"reasoning": "", "reasoning_details": [detail]}));
    let response = response(&[
        detail(json!({"type": "reasoning.text", "text": "One ", "index": 0})),
        detail(json!({"type": "reasoning.text", "text": "two", "index": 0})),
        detail(json!({"type": "reasoning.text", "signature": "sig", "index": 0})),
        delta(json!({"content": "Three"})),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": "{}"},
                                     "extra_content": {"google": {"thought_signature": "ts"}}}]}),
        ),
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
    ]);
    let [Block::Reasoning(reasoning), Block::Text(text), Block::Call(call)] = &response.choices[0].message.blocks[..]
    else {
        panic!("{:?}", response.choices[0].message.blocks)
    };
    assert_eq!((reasoning.text.as_str(), text.text.as_str()), ("One two", "Three"));
    let vendor = reasoning.vendor.as_ref().unwrap();
    assert_eq!(vendor.vendor, "openrouter");
    let whole =
        json!({"reasoning_details": [{"type": "reasoning.text", "text": "One two", "index": 0, "signature": "sig"}]});
    assert_eq!(vendor.data, whole);
    let vendor = call.vendor.as_ref().unwrap();
    assert_eq!(
        vendor.data,
        json!({"extra_content": {"google": {"thought_signature": "ts"}}})
    );
}

#[test]
fn is_done_only_at_the_terminal_marker() {
    let (mut decoder, mut deltas) = (decoder(200, "text/event-stream"), Vec::new());
    let finish = json!({"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]});
    decoder
        .feed(format!("data: {finish}\n\n").as_bytes(), &mut deltas)
        .unwrap();
    assert!(!decoder.is_done(), "usage may follow the finish reason");
    decoder.feed(b"data: [DONE]\n\n", &mut deltas).unwrap();
    assert!(decoder.is_done());
    let before = deltas.len();
    decoder
        .feed(b"data: {\"error\": {\"message\": \"too late\"}}\n\n", &mut deltas)
        .unwrap();
    decoder.finish(Close::Reset, &mut deltas).unwrap();
    assert_eq!(deltas.len(), before);
}

#[test]
fn emits_one_start_before_other_deltas() {
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": "x"}}], "id": "late", "model": "m"});
    let (deltas, _) = read(
        "text/event-stream",
        &[stream(&[chunk.clone(), chunk]).as_bytes()],
        Close::Clean,
    );
    let starts = deltas
        .iter()
        .filter(|delta| matches!(delta, ReplyDelta::Start(_)))
        .count();
    assert_eq!(starts, 1);
    assert!(
        matches!(&deltas[0], ReplyDelta::Start(start) if start.id.as_deref() == Some("late")),
        "{:?}",
        deltas[0]
    );
}

#[test]
fn errors_have_ids_headers_and_an_excerpt_without_keys() {
    let mut head = head(500, "application/json");
    head.headers.insert("x-request-id", HeaderValue::from_static("req_1"));
    head.headers.insert("set-cookie", HeaderValue::from_static("secret=1"));
    let mut decoder = Wire::<Chat>::decoder(&OpenAiChat::new(dialect::openai()), &head);
    let body = br#"{"error": {"message": "bad key sk-abcdefghijklmnopqrstuvwxyz", "type": "server_error"}}"#;
    decoder.feed(body, &mut Vec::new()).unwrap();
    let error = decoder.finish(Close::Clean, &mut Vec::new()).unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Server);
    assert_eq!((error.status(), error.request_id()), (Some(500), Some("req_1")));
    assert_eq!(error.headers(), [("x-request-id".to_owned(), "req_1".to_owned())]);
    assert_eq!(error.to_string(), "bad key [redacted] (HTTP 500)");
    assert!(error.body_excerpt().unwrap().contains("bad key [redacted]"));
}

#[test]
fn a_malformed_event_emits_nothing_and_keeps_earlier_deltas() {
    let good = delta(json!({"content": "kept"}));
    let body = format!("data: {good}\n\ndata: {good}{good}\n\n");
    let (deltas, end) = read("text/event-stream", &[body.as_bytes()], Close::Clean);
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Malformed);
    assert_eq!(folded(&deltas).text(), "kept");
}

#[test]
fn decodes_twenty_megabytes_whole_and_streamed() {
    let long = "é🦀 ".repeat((20 << 20) / 7);
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": long}, "finish_reason": "stop"}]});
    let body = stream(&[chunk]);
    let reads: Vec<&[u8]> = body.as_bytes().chunks(64 << 10).collect();
    let (deltas, end) = read("text/event-stream", &reads, Close::Clean);
    end.unwrap();
    assert!(folded(&deltas).text() == long);
    let body = json!({"choices": [{"index": 0, "message": {"content": long}, "finish_reason": "stop"}]}).to_string();
    let (deltas, end) = read("application/json", &[body.as_bytes()], Close::Clean);
    end.unwrap();
    assert!(folded(&deltas).text() == long);
}

#[test]
fn lists_without_an_error_are_malformed() {
    for body in ["[]", "[1]", "[[{}]]", "[{\"error\":"] {
        let (_, end) = read("application/json", &[body.as_bytes()], Close::Clean);
        assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Malformed, "{body}");
        if body == "[]" {
            // An empty list in an event is ignored.
            continue;
        }
        let event = format!("data: {body}\n\n");
        let (_, end) = read("text/event-stream", &[event.as_bytes()], Close::Clean);
        assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Malformed, "{event}");
    }
    let (_, end) = read("text/event-stream", &[b"data: [{\"error\": {\"mess"], Close::Clean);
    assert_eq!(
        end.unwrap_err().kind(),
        LlmErrorKind::Truncated,
        "an incomplete list is truncated"
    );
}

#[test]
fn deep_nesting_is_malformed() {
    let body = format!("data: {{\"x\": {}", "[".repeat(1 << 20)) + "\n\n";
    let (_, end) = read("text/event-stream", &[body.as_bytes()], Close::Clean);
    assert_eq!(end.unwrap_err().kind(), LlmErrorKind::Malformed);
}

#[test]
fn reads_the_context_window_where_each_server_has_it() {
    #[track_caller]
    fn check(members: &str, expected: Option<u64>) {
        let wire = OpenAiChat::new(dialect::openai());
        let mut decoder = Wire::<ListModels>::decoder(&wire, &head(200, "application/json"));
        let (body, mut models) = (format!(r#"{{"data": [{{"id": "m", {members}}}]}}"#), Vec::new());
        decoder.feed(body.as_bytes(), &mut models).unwrap();
        decoder.finish(Close::Clean, &mut models).unwrap();
        assert_eq!(models[0].context_window, expected, "{members}");
    }
    // llama.cpp. A server runs with less than what the model was trained for.
    check(
        r#""meta": {"vocab_type": 2, "n_ctx": 8192, "n_ctx_train": 131072}"#,
        Some(8_192),
    );
    check(r#""meta": {"vocab_type": 2, "n_ctx_train": 131072}"#, Some(131_072));
    check(r#""meta": {"n_ctx": 0, "n_ctx_train": 32768}"#, Some(32_768));
    check(r#""meta": null"#, None);
    // OpenRouter.
    check(
        r#""context_length": 1048576, "top_provider": {"context_length": 131072, "max_completion_tokens": 16384}"#,
        Some(131_072),
    );
    check(
        r#""context_length": 128000, "top_provider": {"context_length": null}"#,
        Some(128_000),
    );
    check(r#""top_provider": {"context_length": 64000}"#, Some(64_000));
    check(r#""max_model_len": 4096, "meta": {"n_ctx_train": 32768}"#, Some(4_096));
    check(r#""context_window": 131072"#, Some(131_072));
    check(r#""details": {"context_length": 2048}"#, Some(2_048));
    check(r#""context_window": 0"#, None);
}

#[test]
fn reads_model_lists_of_every_shape() {
    let wire = OpenAiChat::new(dialect::openai());
    let asked = Wire::<ListModels>::encode(&wire, &(), &EncodeOptions::new("")).unwrap();
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("GET", "/models"));
    let list = |status: u16, body: &str| {
        let mut decoder = Wire::<ListModels>::decoder(&wire, &head(status, "application/json"));
        let mut models = Vec::new();
        decoder.feed(body.as_bytes(), &mut models)?;
        decoder.finish(Close::Clean, &mut models).map(|()| models)
    };
    let models = list(
        200,
        r#"{"data": [{"id": "m", "object": "model", "owned_by": "o", "max_model_len": 4096, "x": 1}]}"#,
    )
    .unwrap();
    assert_eq!((models[0].id.as_str(), models[0].context_window), ("m", Some(4096)));
    assert_eq!(models[0].extra.get("x"), Some(&json!(1)));
    assert_eq!(models[0].extra.get("object"), None);
    assert_eq!(list(200, r#"[{"id": "a"}, "b"]"#).unwrap().len(), 2);
    assert_eq!(list(200, r#"{"object": "list", "data": null}"#).unwrap(), []);
    assert_eq!(list(401, "{}").unwrap_err().kind(), LlmErrorKind::Authentication);
    assert_eq!(
        list(200, "<html><title>Hi</title></html>").unwrap_err().kind(),
        LlmErrorKind::Malformed
    );
    assert_eq!(list(200, "{}").unwrap_err().kind(), LlmErrorKind::Malformed);
}

/// Decodes reads, and returns the deltas and the kind and message of the error for comparison.
fn outcome(reads: &[&[u8]], events: bool, close: Close) -> (Vec<ReplyDelta>, Option<(LlmErrorKind, String)>) {
    let content_type = if events {
        "text/event-stream"
    } else {
        "application/json"
    };
    let (deltas, end) = read(content_type, reads, close);
    (
        deltas,
        end.err().map(|error| (error.kind(), error.message().to_owned())),
    )
}

/// Returns the bodies of the wire cases.
fn bodies() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/wire/openai-chat");
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let bodies = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|end| end == "body"))
        .map(|path| fs::read(path).unwrap());
    bodies.filter(|body| body.len() < 8192).collect()
}

/// Generates the body of a case in which some bytes are replaced, removed or inserted.
fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let bodies = bodies();
    let change = (any::<prop::sample::Index>(), any::<u8>(), 0..4_u8);
    (prop::sample::select(bodies), prop::collection::vec(change, 0..6)).prop_map(|(mut body, changes)| {
        for (position, byte, kind) in changes {
            let at = position.index(body.len().max(1)).min(body.len().saturating_sub(1));
            match kind {
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
    fn arbitrary_bytes_do_not_depend_on_reads(bytes: Vec<u8>, positions: Vec<prop::sample::Index>, events: bool) {
        let whole = outcome(&[&bytes], events, Close::Clean);
        prop_assert_eq!(outcome(&split(&bytes, &positions), events, Close::Clean), whole);
    }

    #[test]
    fn mutated_replies_do_not_depend_on_reads(
        bytes in mutated(),
        positions: Vec<prop::sample::Index>,
        events: bool,
        is_reset: bool,
    ) {
        let close = if is_reset { Close::Reset } else { Close::Clean };
        let whole = outcome(&[&bytes], events, close);
        prop_assert_eq!(outcome(&split(&bytes, &positions), events, close), whole);
    }
}

/// Generates chunks of many kinds. The same kinds occur again with other texts.
fn any_chunk() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-c]{0,3}", Just("é🦀\"\\\n".to_owned()), Just("x".repeat(40))];
    (0..14_u32, text, "[a-z]{0,3}").prop_map(|(kind, text, other)| match kind {
        0..=3 => json!({"id": "c", "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": null}]}),
        4 | 5 => json!({"choices": [{"index": 0, "delta": {"content": text}}], "usage": null, "obfuscation": other}),
        6 => json!({"choices": [{"delta": {"content": text}, "index": 1}]}),
        7 => json!({"choices": [{"index": 0, "delta": {"content": text, "reasoning_details":
                    [{"type": "reasoning.encrypted", "data": other}]}}]}),
        8 => json!({"choices": [{"index": 0, "delta": {"content": text, "audio": {"data": other}}}]}),
        9 => json!({"choices": [{"index": 0, "delta": {"reasoning_details": [{"type": "x", "data": other}]}},
                    {"index": 1, "delta": {"content": text}}]}),
        10 => json!({"choices": [{"index": 0, "delta": {"content": text, "odd": other}, "logprobs": {"content": [text]}}]}),
        11 => json!({"choices": [{"index": 0, "delta": {"content": text}}], "usage": {"prompt_tokens": 1}}),
        12 => json!({"id": other, "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}),
        _ => json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "i", "function":
                    {"name": "f", "arguments": text}}]}}]}),
    })
}

proptest! {
    /// The result does not depend on whether a chunk is recognized as similar to the previous one, which is faster.
    #[test]
    fn similar_chunks_are_decoded_like_others(chunks in prop::collection::vec(any_chunk(), 1..24)) {
        let read = |stream: &str| {
            let (deltas, end) = read("text/event-stream", &[stream.as_bytes()], Close::Clean);
            end.unwrap();
            deltas
        };
        // An event whose name differs from that of the previous event is always parsed.
        let named = |(at, chunk): (usize, &Value)| format!("event: {at}\ndata: {chunk}\n\n");
        let named: String = chunks.iter().enumerate().map(named).chain(["data: [DONE]\n\n".to_owned()]).collect();
        prop_assert_eq!(read(&stream(&chunks)), read(&named));
    }
}
